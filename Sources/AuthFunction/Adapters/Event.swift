package import JOSE

/// An event of any shape: the request that is in it, and how its sender wants the response.
package struct Event {
    /// Bytes of one event: a body of the largest size whose every byte is escaped, and room for headers.
    package static let maximumSize = 6 * AuthFunction.maximumBodySize + 65_536

    package let origin: EventOrigin
    /// An event that is none is a failed request like any other, so it is answered and never fatal.
    package let request: Result<Request, Failure>

    /// - Parameters:
    ///   - basePath: a prefix of the path to strip; empty for none.
    ///   - requestID: the runtime's name for this run, used where the event itself names none.
    package init(_ bytes: ArraySlice<UInt8>, basePath: String, requestID: String? = nil) {
        do throws(Failure) {
            self.init(try Self.json(bytes), basePath: basePath, requestID: requestID)
        } catch {
            self.init(error)
        }
    }

    package init(_ json: JSON, basePath: String, requestID: String? = nil) {
        let origin = EventOrigin(of: json)
        self.origin = origin
        do throws(Failure) {
            guard json.object != nil else { throw .invalidRequest([.init("event", "not_a_json_object")]) }
            var request =
                switch origin {
                case .plain: try PlainEvent.request(from: json)
                case .apiGatewayV1: try APIGatewayV1Event.request(from: json)
                case .apiGatewayV2: try APIGatewayV2Event.request(from: json)
                case .loadBalancer: try LoadBalancerEvent.request(from: json)
                case .openWhisk: try OpenWhiskEvent.request(from: json)
                }
            // The gateways say of the root that it is empty.
            if request.path.isEmpty { request.path = "/" }
            request.path = EventPath.resolve(request.path, stage: Self.stage(of: json, in: origin), basePath: basePath)
            request.context.requestID = request.context.requestID ?? requestID
            self.request = .success(request)
        } catch {
            request = .failure(error)
        }
    }

    /// What came instead of an event. Answered in the plain shape, which API Gateway and load balancers understand as well, and
    /// OpenWhisk does not.
    package init(_ failure: Failure, from origin: EventOrigin = .plain) {
        self.origin = origin
        request = .failure(failure)
    }

    /// The response in the shape that the event's sender knows, on one line and with its line feed.
    package func bytes(of response: Response) -> [UInt8] {
        let json =
            switch origin {
            case .plain: PlainEvent.json(of: response)
            case .apiGatewayV1: APIGatewayV1Event.json(of: response)
            case .apiGatewayV2: APIGatewayV2Event.json(of: response)
            case .loadBalancer(let isMultiValue): LoadBalancerEvent.json(of: response, isMultiValue: isMultiValue)
            case .openWhisk: OpenWhiskEvent.json(of: response)
            }
        return json.serialized() + [0x0A]
    }

    package static func json(_ bytes: ArraySlice<UInt8>) throws(Failure) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: bytes, limits: JSON.Limits(bytes: maximumSize))
        } catch .tooLarge {
            throw .contentTooLarge
        } catch {
            throw .invalidRequest([.init("event", "not_json")])
        }
    }

    private static func stage(of json: JSON, in origin: EventOrigin) -> String? {
        switch origin {
        case .apiGatewayV1: APIGatewayV1Event.stage(of: json)
        case .apiGatewayV2: APIGatewayV2Event.stage(of: json)
        case .plain, .loadBalancer, .openWhisk: nil
        }
    }
}
