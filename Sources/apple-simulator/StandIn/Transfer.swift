internal import JOSE

/// A transfer identifier that was given out: it stands for one person on the way from one team to another (Apple's
/// TN3159).
struct Transfer: Hashable {
    var subject: String
    var person: String
    var source: String
    var target: String
}

extension Transfer {
    init?(_ json: JSON) {
        guard let subject = json["subject"]?.string, let person = json["person"]?.string,
            let source = json["source"]?.string, let target = json["target"]?.string
        else { return nil }
        self.init(subject: subject, person: person, source: source, target: target)
    }

    var json: JSON {
        [
            "subject": .string(subject), "person": .string(person), "source": .string(source),
            "target": .string(target),
        ]
    }
}

/// An app has gone to another team.
struct Move: Hashable {
    var client: String
    var source: String
    var target: String
    var time: Int64

    /// How long tokens carry `transfer_sub` afterwards: 60 days.
    static let seconds: Int64 = 5_184_000
}

extension Move {
    init?(_ json: JSON) {
        guard let client = json["client"]?.string, let source = json["source"]?.string,
            let target = json["target"]?.string, let time = json["time"]?.integer
        else { return nil }
        self.init(client: client, source: source, target: target, time: time)
    }

    var json: JSON {
        [
            "client": .string(client), "source": .string(source), "target": .string(target), "time": .integer(time),
        ]
    }
}
