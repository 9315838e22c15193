/// How a request is answered: mostly at once.
enum Reply {
    case now(HTTPResponse)
    case later(HTTPResponse, milliseconds: Int64)
    /// When work beside the server is done.
    case whenDone(Errand)
    /// The connection is closed without a word.
    case never
}
