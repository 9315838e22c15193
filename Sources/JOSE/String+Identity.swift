extension String {
    /// Whether both are the same scalars in the same order, which is what JSON and JOSE mean by equal: no normalization
    /// may be applied (RFC 8259 §8.3, RFC 7515 §5.3).
    ///
    /// Swift's `==` is not that. To it U+212A KELVIN SIGN equals the letter K, and so one `kid`, `aud` or member name would
    /// answer to several.
    package func isIdentical(to other: String) -> Bool {
        // The counts are known, and names that differ mostly differ in them.
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
