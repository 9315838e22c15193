package import Accounts
package import JOSE

extension DynamoDBUserStore {
    /// One write where the window is known, two where it begins. If the answer to one is lost, the attempt is counted twice,
    /// which errs on the safe side.
    package func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64 {
        try perform { table throws(DynamoDBFailure) in
            do throws(DynamoDBFailure) {
                return try table.countOneMore(.attempts(key), window: window, of: seconds)
            } catch .conflict(_, let found) {
                let first = Item([
                    "kind": .string("attempts"), "window": .time(window), "count": .number(1),
                    "ttl": .expiry(window.adding(seconds: 2 * AttemptWindow.longestSeconds)),
                ])
                let condition = found?["window"].map { Condition.unchanged("window", $0) } ?? .absent
                try table.write(.put(first, at: .attempts(key), if: condition))
                return 1
            }
        }
    }
}

extension DynamoDBTable {
    /// Counts in the window that is there, if it is one to count in.
    fileprivate func countOneMore(
        _ key: Key, window: UnixTime, of seconds: Int64
    ) throws(DynamoDBFailure) -> Int64 {
        let update = "SET #count = #count + :one"
        let condition = "#window BETWEEN :window AND :latest"
        let expression = Expression(
            text: "\(update) \(condition)",
            values: Item([
                ":one": .number(1), ":window": .time(window),
                ":latest": .time(AttemptWindow.latest(countedIn: window, of: seconds)),
            ]))
        var members: JSON.Object = [
            "Key": key.item.json, "UpdateExpression": .string(update), "ConditionExpression": .string(condition),
            "ReturnValues": .string("UPDATED_NEW"), "ReturnValuesOnConditionCheckFailure": .string("ALL_OLD"),
        ]
        expression.complete(&members)
        guard let count = try ask("UpdateItem", members)["Attributes"].flatMap({ Item($0) })?.number("count") else {
            throw .damaged
        }
        return count
    }
}
