internal import JOSE
internal import OpenSSLCrypto

/// `apple-simulator keys`: the public set, as the endpoint serves it.
struct KeysCommand: Command {
    static let name = "keys"
    static let options: [Options.Option] = [.flag("rotate")]
    static let help = """
        apple-simulator keys [--rotate] [--key-file PATH]

        Prints the public keys as a JSON Web Key Set, as Apple does at /auth/keys.

          --rotate         first replace the oldest key by a new one, as when Apple rotates; a running `serve` serves it at once
          --key-file PATH  where the private keys are; made if absent
        """

    private let file: KeyFile
    private let isRotating: Bool

    init(_ options: Options) throws {
        file = try KeyFile(options, cryptography: OpenSSLCryptography())
        isRotating = options.has("rotate")
    }

    func run() throws {
        if isRotating { try file.rotate() }
        Descriptor.print(try file.keys().publicKeys.json.text)
    }
}
