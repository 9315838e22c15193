internal import AuthFunction
internal import JOSE

/// The doorway of OpenWhisk: its ActionLoop writes one activation a line and waits for one line of result on descriptor 3.
///
/// https://github.com/apache/openwhisk-runtime-go/blob/master/docs/ACTION.md
///
/// Every line is answered, whatever it is, since an activation without a result would keep its caller waiting until the
/// platform's own limit.
enum ActionLoop {
    private static let results: Int32 = 3

    static func serve(acknowledging: Bool) -> Int32 {
        let deadline = Deadline()
        let service = Service.start(deadline: deadline)
        // Also when it is not configured: then each activation is answered 500, and the log says why.
        if acknowledging, !Descriptor.write(Array("{\"ok\":true}\n".utf8), to: results) { return closedDescriptor() }
        var lines = LineReader(descriptor: 0, limit: Event.maximumSize)
        while let line = lines.next() {
            let event: Event
            switch line {
            case .bytes(let bytes): event = read(bytes, deadline, basePath: service.basePath)
            case .tooLong: event = Event(.contentTooLarge, from: .openWhisk)
            case .unreadable: return ExitStatus.inputOutput
            }
            let exchange = service.respond(to: event.request)
            let isWritten = Descriptor.write(event.bytes(of: exchange.response), to: results)
            Descriptor.printError(exchange.log.json.text)
            guard isWritten else { return closedDescriptor() }
            // A container that is paused in the middle of this loses nothing: keys that are in use stay usable.
            service.afterResponse(exchange.errands)
        }
        return service.exitStatus
    }

    /// The parameters are in `value`; beside it stands what the platform says of the activation.
    private static func read(_ line: ArraySlice<UInt8>, _ deadline: Deadline, basePath: String) -> Event {
        deadline.time = nil
        let activation: JSON
        do throws(Failure) {
            activation = try Event.json(line)
        } catch {
            return Event(error, from: .openWhisk)
        }
        guard let value = activation["value"], value.object != nil else {
            return Event(.invalidRequest([.init("event.value", "not_an_object")]), from: .openWhisk)
        }
        deadline.time = Deadline.time(
            activation["deadline"]?.string ?? activation["deadline"]?.integer.map { String($0) })
        return Event(
            value, basePath: basePath, requestID: activation["activation_id"]?.string.flatMap(Request.Context.name))
    }

    private static func closedDescriptor() -> Int32 {
        Descriptor.printError(
            "auth-apple: results cannot be written to descriptor 3, which OpenWhisk's ActionLoop opens")
        return ExitStatus.software
    }
}
