#if PostgreSQL
internal import Accounts
internal import AppleID

/// Which account of the owner's an address that Apple verified may open (`LINK_VERIFIED_EMAIL`). The owner's statement proposes;
/// this decides, and rather says nobody.
struct VerifiedEmailLink {
    let address: String

    /// The one account that has this address, verified, and no `sub`. Two with one address may be two people.
    func account(among candidates: [Account]) -> Account? {
        guard candidates.count == 1, let account = candidates.first, account.appleSubject == nil,
            let email = account.profile.email, email.isVerified == true, !email.isPrivate, !Self.isRelay(address),
            Self.folded(email.address) == Self.folded(address)
        else { return nil }
        return account
    }

    private static func isRelay(_ address: String) -> Bool {
        folded(address).hasSuffix(Array("@privaterelay.appleid.com".utf8))
    }

    /// Without the difference of A to Z and a to z, and of no other letters: to a database's `lower` the Kelvin sign is a k, and
    /// whoever has one in their address would have another person's account.
    private static func folded(_ address: String) -> [UInt8] {
        address.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

extension Array where Element == UInt8 {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
        count >= suffix.count && self[(count - suffix.count)...] == suffix[...]
    }
}
#endif
