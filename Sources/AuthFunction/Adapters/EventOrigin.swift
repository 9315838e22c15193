internal import JOSE

/// Who sent an event, and therefore which shape its response must have.
///
/// The sender is told by its own marks and never by which reader happens to succeed: the shapes overlap, and one that is read
/// as another is answered in a form that its sender does not understand.
package enum EventOrigin: Hashable, Sendable {
    /// The plain event (design §8): a pipe, a direct invocation, OpenFaaS.
    case plain
    /// API Gateway REST APIs, and HTTP APIs with payload format 1.0.
    case apiGatewayV1
    /// API Gateway HTTP APIs with payload format 2.0, and Lambda function URLs.
    case apiGatewayV2
    /// An Application Load Balancer. It wants its answer's headers in the form in which it sent the request's.
    case loadBalancer(isMultiValue: Bool)
    /// An OpenWhisk web action, with raw HTTP or without.
    case openWhisk

    /// OpenWhisk comes first: without raw HTTP it puts the members of a client's body beside its own marks, which a client
    /// cannot set; everywhere else the members of the event are the sender's alone.
    init(of event: JSON) {
        let context = event["requestContext"]
        self =
            if event["__ow_method"] != nil {
                .openWhisk
            } else if context?["elb"] != nil {
                .loadBalancer(isMultiValue: event["multiValueHeaders"]?.object != nil)
            } else if event["version"]?.string == "2.0", context?["http"] != nil {
                .apiGatewayV2
            } else if event["httpMethod"] != nil, context?.object != nil {
                .apiGatewayV1
            } else {
                .plain
            }
    }
}
