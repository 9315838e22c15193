internal import OpenSSLShim

/// The parts of a key in the form that `EVP_PKEY_fromdata` takes: a list of `OSSL_PARAM`, each with memory owned here. The
/// memory is scrubbed before it is given back, since some of it may be secret.
@safe struct KeyParameters: ~Copyable {
    private var parameters = unsafe [OSSL_PARAM]()

    deinit {
        for index in unsafe parameters.indices {
            unsafe OPENSSL_cleanse(parameters[index].data, parameters[index].data_size)
            unsafe parameters[index].data.deallocate()
        }
    }

    /// An unsigned number, given big-endian; OpenSSL wants the machine's own order (OSSL_PARAM(3)).
    mutating func append(number bytes: [UInt8], as name: StaticString) {
        #if _endian(little)
        let memory = unsafe Self.memory(holding: bytes.reversed())
        #else
        let memory = unsafe Self.memory(holding: bytes)
        #endif
        unsafe parameters.append(OSSL_PARAM_construct_BN(name.characters, memory, bytes.count))
    }

    mutating func append(octets bytes: [UInt8], as name: StaticString) {
        let memory = unsafe Self.memory(holding: bytes)
        unsafe parameters.append(OSSL_PARAM_construct_octet_string(name.characters, memory, bytes.count))
    }

    mutating func append(text: String, as name: StaticString) {
        let memory = unsafe Self.memory(holding: text.utf8)
        unsafe parameters.append(OSSL_PARAM_construct_utf8_string(name.characters, memory, text.utf8.count))
    }

    /// The list with its end marked.
    mutating func withTerminatedList<Result>(_ body: (UnsafeMutablePointer<OSSL_PARAM>?) -> Result) -> Result {
        unsafe parameters.append(OSSL_PARAM_construct_end())
        defer { unsafe parameters.removeLast() }
        return unsafe parameters.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress) }
    }

    /// New memory with these bytes and a zero after them, which text ends in.
    private static func memory(holding bytes: some Collection<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + 1)
        let buffer = unsafe UnsafeMutableBufferPointer(start: memory, count: bytes.count + 1)
        _ = unsafe buffer.initialize(fromContentsOf: bytes)
        unsafe buffer[bytes.count] = 0
        return unsafe memory
    }
}

extension StaticString {
    /// For C; it lives as long as the process, as the name of a parameter must.
    var characters: UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
