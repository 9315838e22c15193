internal import Accounts
internal import JOSE

/// Accounts and sessions in one DynamoDB table, for any number of machines and in every build.
///
/// Nobody locks anything. A change reads, decides, and writes under the condition that what it read is unchanged (each write
/// gives an item a new `version`); if it is not, it reads and decides again. Everything that must be together is one
/// transaction, and every change that concerns more than one session writes the account's item, by which such changes come one
/// after the other. A refresh is two reads and one conditional write of the session alone: a token names a session and not
/// its account, and an answer shows the account as it is now.
package final class DynamoDBUserStore: UserStore {
    let table: DynamoDBTable
    private let patience: Duration

    /// - Parameters:
    ///   - location: what follows `dynamodb:`.
    ///   - variable: the environment, where the region and the credentials may be.
    init(
        location: String, isDevelopment: Bool, patience: Duration,
        variable: @escaping (String) -> String? = AWSCredentialChain.environment
    ) throws(StoreConfigurationError) {
        let location = try DynamoDBLocation(location, isDevelopment: isDevelopment, variable: variable)
        table = DynamoDBTable(
            name: location.table, region: location.region, url: location.url,
            credentials: AWSCredentialChain(variable: variable))
        self.patience = patience
    }

    package func close() {
        table.close()
    }

    /// Runs `body`, and runs it again when somebody else came between what it read and what it wrote.
    ///
    /// - Parameter isLong: whether it may take as long as DynamoDB goes on answering: the operator's work, and no request.
    func perform<Result>(
        long isLong: Bool = false, _ body: (DynamoDBTable) throws(DynamoDBFailure) -> Result
    ) throws(StoreError) -> Result {
        table.schedule = RetrySchedule(lasting: patience, renewed: isLong)
        while true {
            do throws(DynamoDBFailure) {
                return try body(table)
            } catch {
                switch error {
                case .conflict:
                    guard table.schedule.wait() else {
                        throw .unavailable(reason: "DynamoDB \(table.name): others write the same all the time")
                    }
                case .noTable:
                    throw .unusable(
                        reason: "DynamoDB \(table.name): there is no such table in \(table.region): "
                            + "auth-apple store migrate creates it")
                case .unavailable(let reason): throw .unavailable(reason: "DynamoDB \(table.name): \(reason)")
                case .unusable(let reason): throw .unusable(reason: "DynamoDB \(table.name): \(reason)")
                }
            }
        }
    }
}
