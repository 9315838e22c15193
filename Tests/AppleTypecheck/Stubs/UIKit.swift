// Of UIKit only what the sources name. Nothing here works.
public import Foundation

/// https://developer.apple.com/documentation/uikit/uiapplication
@MainActor open class UIApplication: NSObject {
    /// https://developer.apple.com/documentation/uikit/uiapplication/shared
    public class var shared: UIApplication { fatalError() }
    /// https://developer.apple.com/documentation/uikit/uiapplication/connectedscenes
    public var connectedScenes: Set<UIScene> { fatalError() }
}
/// https://developer.apple.com/documentation/uikit/uiscene
@MainActor open class UIScene: NSObject, Hashable {
    /// https://developer.apple.com/documentation/uikit/uiscene/activationstate-swift.enum
    public enum ActivationState: Int, Sendable {
        case foregroundActive
    }
    /// https://developer.apple.com/documentation/uikit/uiscene/activationstate
    public var activationState: ActivationState { fatalError() }
    /// https://developer.apple.com/documentation/uikit/uiscene/==(left:right:)
    public nonisolated static func == (left: UIScene, right: UIScene) -> Bool { fatalError() }
    /// https://developer.apple.com/documentation/uikit/uiscene/hash(into:)
    public nonisolated func hash(into hasher: inout Hasher) {}
}
/// https://developer.apple.com/documentation/uikit/uiwindowscene
@MainActor open class UIWindowScene: UIScene {
    /// https://developer.apple.com/documentation/uikit/uiwindowscene/windows
    public var windows: [UIWindow] { fatalError() }
}
/// https://developer.apple.com/documentation/uikit/uiwindow
@MainActor open class UIWindow: NSObject {
    /// https://developer.apple.com/documentation/uikit/uiwindow/iskeywindow
    public var isKeyWindow: Bool { fatalError() }
}
