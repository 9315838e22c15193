internal import OpenSSLShim

/// SHA-256 of what comes piece by piece and is too large to be held at once.
package struct RunningSHA256: ~Copyable {
    private let context: DigestContext

    package init() {
        Library.require()
        // As in `Library.require`: no digest at all is better than a wrong one.
        guard let context = DigestContext(), unsafe EVP_DigestInit_ex(context.handle, Library.sha256, nil) == 1 else {
            fatalError("SHA-256 failed")
        }
        self.context = context
    }

    package mutating func update(_ bytes: ArraySlice<UInt8>) {
        let isDone = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe EVP_DigestUpdate(context.handle, bytes.baseAddress, bytes.count)
        }
        guard isDone == 1 else { fatalError("SHA-256 failed") }
    }

    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context.handle, &digest, nil) == 1 else { fatalError("SHA-256 failed") }
        return digest
    }
}
