internal import AuthFunction
internal import Glibc
internal import JOSE

/// The doorway of web servers (RFC 3875): one process, one request, one answer.
enum CGIDoorway {
    /// Set by the server and by no client, whose fields come as HTTP_….
    static var isOpen: Bool { unsafe getenv("GATEWAY_INTERFACE") != nil }

    static func serve() -> Int32 {
        let output = CGIOutput()
        let entries = System.environmentEntries()
        let cgi = CGI(CGI.MetaVariables(entries: entries))
        let service = Service.start(System.environment(entries))

        let body = cgi.body { Descriptor.read(STDIN_FILENO, count: $0) ?? [] }
        let exchange = service.respond(to: cgi.request(body: body, basePath: service.basePath))
        let isWritten = output.write(cgi.bytes(of: exchange.response))
        Descriptor.printError(exchange.log.json.text)
        if !isWritten { Report.logLostAnswer(to: exchange.log.requestID) }
        // Before the end of the output is seen: from then on servers kill a program that is still there.
        if service.hasWork(after: exchange.errands) {
            service.letGo()
            Successor.run(closing: output) { service.afterResponse(exchange.errands) }
        }
        output.close()
        return isWritten ? service.exitStatus : ExitStatus.inputOutput
    }
}
