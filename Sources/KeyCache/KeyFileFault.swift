internal import Glibc

/// Why the cache file, or the folder that it lies in, is not used or cannot be written.
package enum KeyFileFault: Error, Hashable, Sendable {
    /// Whose name has the fault.
    package enum Place: String, Hashable, Sendable {
        case folder = "cache folder"
        case file = "cache file"
        case lock = "lock file of the cache"
    }

    case symbolicLink(Place)
    /// A file where a folder should be, or a folder, device or pipe where a file should be.
    case wrongKind(Place)
    case foreignOwner(Place)
    case writableByOthers(Place)
    case tooLarge
    /// No file of ours, not even a damaged one.
    case anothers
    /// The system refused; the number is its `errno`.
    case unreadable(Place, Int32)
    case unwritable(Place, Int32)
}

extension KeyFileFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .symbolicLink(let place): "\(place.rawValue) is a symbolic link: not used"
        case .wrongKind(let place): "\(place.rawValue) is not what it should be: not used"
        case .foreignOwner(let place): "\(place.rawValue) belongs to another user: not used"
        case .writableByOthers(let place): "\(place.rawValue) is writable by others: not used"
        case .tooLarge: "cache file is too large: not used"
        case .anothers: "cache file is of something else: neither used nor replaced"
        case .unreadable(let place, let error): "\(place.rawValue) cannot be read (\(Self.text(error)))"
        case .unwritable(let place, let error): "\(place.rawValue) cannot be written (\(Self.text(error)))"
        }
    }

    private static func text(_ error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "errno \(error)"
    }
}
