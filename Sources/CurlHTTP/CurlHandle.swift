internal import CurlShim

/// libcurl's "easy handle": the settings of one transfer, and the connections that outlive it.
@safe struct CurlHandle: ~Copyable {
    fileprivate let library: UnsafePointer<CurlShimLibrary>
    private let words: UnsafeMutablePointer<CChar>
    private let handle: UnsafeMutableRawPointer

    init() throws(HTTPError) {
        guard let library = unsafe CurlLibrary.opened, let handle = unsafe library.pointee.curl_easy_init() else {
            throw HTTPError(.library, "libcurl.so.4 cannot be opened: install libcurl (Debian: libcurl4)")
        }
        unsafe self.library = library
        unsafe words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe words.pointee = 0
        unsafe self.handle = handle
    }

    deinit {
        unsafe library.pointee.curl_easy_cleanup(handle)
        unsafe words.deallocate()
    }

    /// Every setting back to libcurl's default; connections, TLS sessions and resolved names are kept.
    func reset() {
        unsafe library.pointee.curl_easy_reset(handle)
        unsafe words.pointee = 0
    }

    func set(_ option: CURLoption, _ value: Int) throws(HTTPError) {
        try check(unsafe curl_shim_set_long(library, handle, option, value))
    }

    /// libcurl copies the string.
    func set(_ option: CURLoption, _ value: String) throws(HTTPError) {
        try check(unsafe curl_shim_set_string(library, handle, option, value))
    }

    /// NULL: none, where not to set it would leave libcurl's own default.
    func unset(_ option: CURLoption) throws(HTTPError) {
        try unsafe set(nil, as: option)
    }

    /// The body to send; libcurl copies it, and wants to know its size first:
    /// https://curl.se/libcurl/c/CURLOPT_COPYPOSTFIELDS.html
    func set(body: [UInt8]) throws(HTTPError) {
        try set(CURLOPT_POSTFIELDSIZE, body.count)
        // An empty array has no address, and NULL would mean that the body is to be read from standard input.
        let code = unsafe (body.isEmpty ? [0] : body).withUnsafeBytes { bytes in
            unsafe curl_shim_set_pointer(library, handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
        }
        try check(code)
    }

    /// libcurl signs by its own clock. Before 7.88 it left out every header of ours but the type, and AWS wants all of
    /// `x-amz-…` signed: https://curl.se/libcurl/c/CURLOPT_AWS_SIGV4.html
    func sign(with signing: Signing) throws(HTTPError) {
        guard CurlLibrary.version >= 0x07_58_00 else {
            throw HTTPError(.library, "libcurl is older than 7.88, which cannot sign for AWS")
        }
        try set(CURLOPT_AWS_SIGV4, "aws:amz:\(signing.region):\(signing.service)")
        try set(CURLOPT_USERNAME, signing.accessKeyID)
        try set(CURLOPT_PASSWORD, signing.secretAccessKey)
    }

    /// Runs the transfer. Once it has ended, libcurl holds no pointer to anything of ours that `reset` leaves behind.
    func perform(sending lines: borrowing CurlHeaderLines, into receiver: ResponseReceiver) throws(HTTPError) {
        let context = unsafe Unmanaged.passUnretained(receiver).toOpaque()
        try unsafe set(lines.first, as: CURLOPT_HTTPHEADER)
        try unsafe set(context, as: CURLOPT_HEADERDATA)
        try unsafe set(context, as: CURLOPT_WRITEDATA)
        try unsafe set(words, as: CURLOPT_ERRORBUFFER)
        // A count other than the given one ends the transfer: https://curl.se/libcurl/c/CURLOPT_WRITEFUNCTION.html
        try check(
            unsafe curl_shim_set_receiver(library, handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                unsafe receive(bytes, size * count, context) { unsafe $0.receive(headerLine: $1) }
            })
        try check(
            unsafe curl_shim_set_receiver(library, handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                unsafe receive(bytes, size * count, context) { unsafe $0.receive(body: $1) }
            })
        let code = withExtendedLifetime(receiver) { unsafe library.pointee.curl_easy_perform(handle) }
        guard code == CURLE_OK else {
            throw HTTPError(receiver.isTooLarge ? .tooLarge : HTTPError.Code(code), words(for: code))
        }
    }

    /// Zero when there was none.
    var responseStatus: Int {
        var status = 0
        guard unsafe curl_shim_get_long(library, handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK else { return 0 }
        return status
    }

    private func set(_ pointer: UnsafeRawPointer?, as option: CURLoption) throws(HTTPError) {
        try check(unsafe curl_shim_set_pointer(library, handle, option, pointer))
    }

    /// A setting that libcurl refuses is never passed over: it may be the one that verifies the peer.
    private func check(_ code: CURLcode) throws(HTTPError) {
        switch code {
        case CURLE_OK: return
        case CURLE_UNKNOWN_OPTION: throw HTTPError(.library, "libcurl is older than 7.85")
        default: throw HTTPError(.request, words(for: code))
        }
    }

    /// What libcurl said of this transfer, else its sentence for the code. One line of plain text.
    private func words(for code: CURLcode) -> String {
        let said = unsafe words.pointee == 0 ? library.pointee.curl_easy_strerror(code) : UnsafePointer(words)
        let sentence = unsafe said.map { unsafe String(cString: $0) } ?? ""
        return String(String.UnicodeScalarView(sentence.unicodeScalars.filter { (" "..."~").contains($0) }))
    }
}

/// What both of libcurl's receiving functions do: the bytes to the receiver that is the context, and back their count, or
/// zero to stop.
private func receive(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
    _ take: (ResponseReceiver, UnsafeBufferPointer<UInt8>) -> Bool
) -> Int {
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let receiver = unsafe Unmanaged<ResponseReceiver>.fromOpaque(context).takeUnretainedValue()
    let piece = unsafe UnsafeBufferPointer(
        start: UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: count)
    return unsafe take(receiver, piece) ? count : 0
}

/// Header lines as libcurl takes them: https://curl.se/libcurl/c/CURLOPT_HTTPHEADER.html
@safe struct CurlHeaderLines: ~Copyable {
    private let library: UnsafePointer<CurlShimLibrary>
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    /// An empty list.
    init(for curl: borrowing CurlHandle) {
        unsafe library = curl.library
        unsafe first = nil
    }

    mutating func append(_ line: String) throws(HTTPError) {
        guard let longer = unsafe library.pointee.curl_slist_append(first, line) else {
            throw HTTPError(.request, "out of memory")
        }
        unsafe first = longer
    }

    deinit {
        unsafe library.pointee.curl_slist_free_all(first)
    }
}

extension HTTPError.Code {
    /// https://curl.se/libcurl/c/libcurl-errors.html
    fileprivate init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
                CURLE_FILE_COULDNT_READ_FILE:
                .connect
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
                CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
                CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
                .tls
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .url
            case CURLE_FAILED_INIT, CURLE_OUT_OF_MEMORY: .library
            default: .transfer
            }
    }
}
