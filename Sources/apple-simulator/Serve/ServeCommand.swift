internal import OpenSSLCrypto

/// `apple-simulator serve`: Apple's endpoints on loopback, until it is told to stop.
struct ServeCommand: Command {
    static let name = "serve"
    static let options: [Options.Option] = [.value("port"), .value("max-age")]
    static let help = """
        apple-simulator serve [--port N] [--max-age SECONDS] [--key-file PATH]

        Answers on 127.0.0.1 and nowhere else, and prints its address on standard output once it does. One line a request
        on standard error. Ends at SIGTERM or SIGINT.

          GET /auth/keys     the public key set

          --port N           0 takes a free one (8410)
          --max-age SECONDS  how long Cache-Control lets the keys be kept (3600)
          --key-file PATH    where the private keys are; made if absent
        """

    private let port: UInt16
    private let endpoints: [any Endpoint]

    init(_ options: Options) throws {
        port = UInt16(try options.integer("port", in: 0...65_535) ?? 8410)
        let file = try KeyFile(options, cryptography: OpenSSLCryptography())
        endpoints = [
            KeysEndpoint(file: file, maximumAge: try options.integer("max-age", in: 0...31_536_000) ?? 3600)
        ]
        // Made before anybody waits for them.
        _ = try file.keys()
    }

    func run() throws {
        let stop = try StopSignal.install()
        let listener = try Listener(port: port)
        let router = Router(
            endpoints: endpoints, authorities: ["127.0.0.1:\(listener.port)", "localhost:\(listener.port)"])
        Descriptor.print("http://127.0.0.1:\(listener.port)")
        HTTPServer(listener: listener, router: router, stop: stop).runUntilStopped()
    }
}
