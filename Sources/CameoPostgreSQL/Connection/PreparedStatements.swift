/// The statements that one connection has sent and may prepare, and the names under which its server's process has prepared them.
struct PreparedStatements {
    /// How a statement is sent.
    enum Use {
        case text
        /// To be prepared first, under a name.
        case preparing(String)
        case prepared(String)
    }

    /// The names of statements by their text; nil: not prepared.
    private var names: [String: String?] = [:]
    private var last = 0

    func hasSeen(_ sql: String) -> Bool { names[sql] != nil }

    /// How to send a statement: as text the first time, and if none are prepared.
    mutating func use(of sql: String, prepares: Bool) -> Use {
        guard let known = names[sql] else {
            names.updateValue(nil, forKey: sql)
            return .text
        }
        if let known { return .prepared(known) }
        guard prepares else { return .text }
        last += 1
        let name = "cameo\(last)"
        names.updateValue(name, forKey: sql)
        return .preparing(name)
    }

    /// Forgets a statement that could not be prepared.
    mutating func forget(_ sql: String) { names.removeValue(forKey: sql) }
}
