internal import JOSE

extension BadToken {
    /// Ways in which a notification is bad: those of any token that concern it, and its own.
    ///
    /// Left out are claims that a notification has not (subject, nonce), and the age, for Apple repeats what was not taken.
    static var notifications: [BadToken] {
        let others = ["subject", "nonce_mismatch", "nonce_missing", "too_old"]
        let names = ["nonce-number", "duplicate-claim"]
        let shared = all.filter { !others.contains($0.reason) && !names.contains($0.name) }
        return shared + events
    }

    /// A token that verifies, and events that are not as Apple writes them. The reason is for the reader of the list only.
    private static var events: [BadToken] {
        [
            BadToken("no-jti", "events", "no jti") { draft, _ in draft.claims["jti"] = nil },
            BadToken("no-events", "events", "no events") { draft, _ in draft.claims["events"] = nil },
            BadToken("events-object", "events", "events is an object, not the text of one") { draft, _ in
                draft.claims["events"] = .object(event(of: draft))
            },
            BadToken("events-array", "events", "events is the text of an array") { draft, _ in
                draft.claims["events"] = .string(JSON.array([.object(event(of: draft))]).text)
            },
            BadToken("events-broken", "events", "events is a text, and no JSON") { draft, _ in
                draft.claims["events"] = "{\"type\":"
            },
            BadToken("duplicate-events", "malformed", "events twice") { draft, _ in
                draft.rewritePayload = { Array($0.dropLast()) + Array(#","events":"{}"}"#.utf8) }
            },
            BadToken("duplicate-in-events", "events", "sub twice in the event, with two values") { draft, _ in
                let text = JSON.object(event(of: draft)).text.dropLast() + #","sub":"009999.another.0001"}"#
                draft.claims["events"] = .string(String(text))
            },
            changingEvent("no-type", "no type") { $0["type"] = nil },
            changingEvent("unknown-type", "a type that nobody knows") { $0["type"] = "account-moved" },
            changingEvent("no-event-subject", "no sub") { $0["sub"] = nil },
            changingEvent("event-subject-number", "sub is a number") { $0["sub"] = .integer(1234) },
            changingEvent("no-event-time", "no event_time") { $0["event_time"] = nil },
            changingEvent("event-time-seconds", "event_time in seconds, in 1970 therefore") { event in
                event["event_time"] = event["event_time"]?.integer.map { .integer($0 / 1000) }
            },
        ]
    }

    private static func changingEvent(
        _ name: String, _ summary: String, _ change: @escaping (inout JSON.Object) -> Void
    ) -> BadToken {
        BadToken(name, "events", summary) { draft, _ in
            var event = event(of: draft)
            change(&event)
            draft.claims["events"] = .string(JSON.object(event).text)
        }
    }

    private static func event(of draft: TokenDraft) -> JSON.Object {
        let text = draft.claims["events"]?.string ?? ""
        return (try? JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 8192, depth: 4)))?.object ?? [:]
    }
}
