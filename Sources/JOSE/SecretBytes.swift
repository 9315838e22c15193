/// Bytes that must not be seen: printing, interpolating or reflecting the value shows none of them.
package struct SecretBytes: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var description: String { "<\(bytes.count) secret bytes>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
