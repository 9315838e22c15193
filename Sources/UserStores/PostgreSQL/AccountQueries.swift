#if PostgreSQL
internal import Accounts

/// The statements that touch accounts: our own table's, or those of the owner's files (`OwnAccountQueries`).
///
/// Those that find give the columns of `Column`, by name and in any order. In a transaction that writes they hold the row until
/// its end (FOR UPDATE); the owner's always do. Parameters are numbered as `Purpose.parameters` says.
struct AccountQueries {
    enum Purpose: String, CaseIterable {
        case findByAppleSubject = "find_by_apple_sub"
        case findByID = "find_by_id"
        case findByTransferSubject = "find_by_transfer_sub"
        /// Every account whose address is $1, whatever else it has.
        case findByVerifiedEmail = "find_by_verified_email"
        /// Gives the id, or no row if there is such an account.
        case insert
        case update
        case delete
        /// Those whose ids come after $1, $2 at most, by their ids. Holds nothing.
        case list

        var isFinding: Bool {
            switch self {
            case .findByAppleSubject, .findByID, .findByTransferSubject, .findByVerifiedEmail: true
            case .insert, .update, .delete, .list: false
            }
        }

        /// The types of $1, $2, …
        var parameters: [UInt32] {
            typealias TypeID = SQLParameter.TypeID
            switch self {
            case .findByAppleSubject, .findByTransferSubject, .findByVerifiedEmail: return [TypeID.text]
            case .findByID, .delete: return [TypeID.uuid]
            case .list: return [TypeID.uuid, TypeID.integer]
            case .insert, .update: return Column.allCases.map(\.typeID)
            }
        }
    }

    /// The columns of an account, and in this order the parameters of `insert` and `update`.
    enum Column: String, CaseIterable {
        case id
        case appleSubject = "apple_sub"
        case transferSubject = "transfer_sub"
        case fullName = "full_name"
        case email
        case isEmailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case contactEmail = "contact_email"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case disabledAt = "disabled_at"
        case consentRevokedAt = "consent_revoked_at"
        case forwarding = "email_forwarding"
        case forwardingSince = "email_forwarding_since"

        var typeID: UInt32 {
            switch self {
            case .id: SQLParameter.TypeID.uuid
            case .appleSubject, .transferSubject, .fullName, .email, .contactEmail: SQLParameter.TypeID.text
            case .isEmailVerified, .isPrivateEmail, .forwarding: SQLParameter.TypeID.bool
            case .createdAt, .updatedAt, .disabledAt, .consentRevokedAt, .forwardingSince: SQLParameter.TypeID.time
            }
        }
    }

    /// Nil for a purpose that has no statement: nobody is found so.
    let texts: [Purpose: String]
    /// Whether the table is the owner's, who says what it keeps.
    let isMapped: Bool

    func statement(_ purpose: Purpose, _ parameters: [SQLParameter], isHeld: Bool = false) -> SQLStatement? {
        texts[purpose].map { SQLStatement(isHeld && !isMapped ? $0 + " FOR UPDATE" : $0, parameters) }
    }

    static let columns = Column.allCases.map(\.rawValue).joined(separator: ", ")

    /// Our own table. `insert` ends the transaction where there is such an account already, with a division by nought: so it
    /// can travel with the statements that follow it, and a unique violation, whose message would show the `sub` in the server's log,
    /// does not come about.
    static let own = AccountQueries(
        texts: [
            .findByAppleSubject: "SELECT \(columns) FROM accounts WHERE apple_sub = $1",
            .findByID: "SELECT \(columns) FROM accounts WHERE id = $1",
            .findByTransferSubject: "SELECT \(columns) FROM accounts WHERE transfer_sub = $1",
            .insert: SQLStatement.orOvertaken(
                """
                INSERT INTO accounts (\(columns))
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING
                """),
            .update: """
            UPDATE accounts SET apple_sub = $2, transfer_sub = $3, full_name = $4, email = $5, email_verified = $6,
            is_private_email = $7, contact_email = $8, created_at = $9, updated_at = $10, disabled_at = $11,
            consent_revoked_at = $12, email_forwarding = $13, email_forwarding_since = $14 WHERE id = $1
            """,
            .delete: "DELETE FROM accounts WHERE id = $1",
            .list: "SELECT \(columns) FROM accounts WHERE id > $1 ORDER BY id LIMIT $2",
        ], isMapped: false)
}

extension SQLStatement {
    /// An INSERT that ends the transaction where its row is there already.
    static func orOvertaken(_ insertion: String, rows: Int = 1) -> String {
        "WITH made AS (\(insertion) RETURNING 1) SELECT 1 / CASE count(*) WHEN \(rows) THEN 1 ELSE 0 END FROM made"
    }
}
#endif
