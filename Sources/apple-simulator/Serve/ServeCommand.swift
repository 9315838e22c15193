internal import OpenSSLCrypto

/// `apple-simulator serve`: Apple's endpoints on loopback, until it is told to stop.
struct ServeCommand: Command {
    static let name = "serve"
    static let options: [Options.Option] =
        [.value("port"), .value("max-age"), .value("state"), .value("code-seconds")] + Registry.options

    private let port: UInt16
    private let maximumAge: Int64
    private let standIn: StandIn

    init(_ options: Options) throws {
        port = UInt16(try options.integer("port", in: 0...65_535) ?? 8410)
        maximumAge = try options.integer("max-age", in: 0...31_536_000) ?? 3600
        let cryptography = OpenSSLCryptography()
        let file = try KeyFile(options, cryptography: cryptography)
        standIn = StandIn(
            cryptography: cryptography, keys: file, registry: try Registry(options),
            memory: MemoryFile(path: options.value("state"), cryptography: cryptography),
            codeSeconds: try options.integer("code-seconds", in: 1...86_400) ?? 300)
        // Made before anybody waits for them.
        _ = try file.keys()
        try standIn.memory.use { _ in }
    }

    func run() throws {
        let stop = try StopSignal.install()
        let bell = try Bell()
        let listener = try Listener(port: port)
        let (faults, log) = (Faults(), RequestLog())
        let apple: [any Endpoint] = [
            KeysEndpoint(file: standIn.keys, maximumAge: maximumAge), AuthorizeEndpoint(standIn: standIn),
            TokenEndpoint(standIn: standIn),
            RevokeEndpoint(standIn: standIn), MigrationEndpoint(standIn: standIn),
        ]
        let control: [any Endpoint] = [
            CodeEndpoint(standIn: standIn), NotifyEndpoint(standIn: standIn, bell: bell),
            HomeEndpoint(standIn: standIn, log: log, bell: bell), PeopleEndpoint(standIn: standIn),
            TransferEndpoint(standIn: standIn), RequestsEndpoint(log: log),
            FaultsEndpoint(faults: faults, endpoints: apple.map(\.path)),
        ]
        let router = Router(
            endpoints: apple + control, faults: faults, log: log,
            authorities: ["127.0.0.1:\(listener.port)", "localhost:\(listener.port)"])
        // The address first and alone on its line, for scripts; what people should know after it.
        Descriptor.print("http://127.0.0.1:\(listener.port)")
        for note in standIn.registry.notes(in: .english) { Descriptor.print(note) }
        HTTPServer(listener: listener, router: router, stop: stop, bell: bell).runUntilStopped()
    }
}
