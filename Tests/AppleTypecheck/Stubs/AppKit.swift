// Of AppKit only what the sources name. Nothing here works.
public import Foundation

/// https://developer.apple.com/documentation/appkit/nsapplication
@MainActor open class NSApplication: NSObject {
    /// https://developer.apple.com/documentation/appkit/nsapplication/shared
    public class var shared: NSApplication { fatalError() }
    /// https://developer.apple.com/documentation/appkit/nsapplication/keywindow
    public var keyWindow: NSWindow? { fatalError() }
    /// https://developer.apple.com/documentation/appkit/nsapplication/mainwindow
    public var mainWindow: NSWindow? { fatalError() }
}
/// https://developer.apple.com/documentation/appkit/nswindow
@MainActor open class NSWindow: NSObject {}
