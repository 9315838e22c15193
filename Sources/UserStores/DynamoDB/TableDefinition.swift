internal import Accounts
internal import JOSE

/// The table as it is created, and what an existing one must have. `deploy/dynamodb/table.json` is the same.
///
/// Keys are texts. Two indexes: `due` (local) has the outbox in the order of its times, `directory` (global) the ids of the
/// accounts in their order. Items expire by `ttl`.
enum TableDefinition {
    static let version: Int64 = 1
    static let expiryAttribute = "ttl"

    static func creation(of table: String) -> JSON.Object {
        [
            "TableName": .string(table), "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": .array([
                attribute("pk", "S"), attribute("sk", "S"), attribute("due", "N"), attribute("directory", "S"),
                attribute("id", "S"),
            ]),
            "KeySchema": keys("pk", "sk"),
            "LocalSecondaryIndexes": .array([
                ["IndexName": "due", "KeySchema": keys("pk", "due"), "Projection": ["ProjectionType": "ALL"]]
            ]),
            "GlobalSecondaryIndexes": .array([
                [
                    "IndexName": "directory", "KeySchema": keys("directory", "id"),
                    "Projection": ["ProjectionType": "KEYS_ONLY"],
                ]
            ]),
            "SSESpecification": ["Enabled": .bool(true), "SSEType": "KMS"],
        ]
    }

    /// What a table that was described lacks; nil when it is as it must be.
    static func fault(of table: JSON) -> String? {
        guard table["KeySchema"] == keys("pk", "sk") else { return "its keys are not pk and sk: choose another table" }
        for (kind, name, schema) in [
            ("LocalSecondaryIndexes", Revocation.index, keys("pk", "due")),
            ("GlobalSecondaryIndexes", Directory.index, keys("directory", "id")),
        ] {
            let found = table[kind]?.array?.first { $0["IndexName"]?.string == name }
            guard found?["KeySchema"] == schema else {
                return "it has no index \(name) as in deploy/dynamodb/table.json: create the table anew"
            }
        }
        return nil
    }

    private static func attribute(_ name: String, _ type: String) -> JSON {
        .object(["AttributeName": .string(name), "AttributeType": .string(type)])
    }

    private static func keys(_ hash: String, _ range: String) -> JSON {
        .array([
            .object(["AttributeName": .string(hash), "KeyType": .string("HASH")]),
            .object(["AttributeName": .string(range), "KeyType": .string("RANGE")]),
        ])
    }
}
