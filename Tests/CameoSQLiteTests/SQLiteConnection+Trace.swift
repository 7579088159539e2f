import CSQLite

@testable import CameoSQLite

extension SQLiteConnection {
    /// What hears of the statements of a connection, for as long as the process lives.
    private final class Listener {
        let hear: @Sendable (String) -> Void

        init(_ hear: @escaping @Sendable (String) -> Void) { self.hear = hear }
    }

    /// Passes on each statement that begins, with its values, and the name of each trigger, as a comment.
    func trace(_ hear: @escaping @Sendable (String) -> Void) {
        let report:
            @convention(c) (CUnsignedInt, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
                -> CInt = { _, listener, statement, text in
                    guard let listener, let statement, let text else { return 0 }
                    let sql = String(cString: text.assumingMemoryBound(to: CChar.self))
                    let expanded = sql.hasPrefix("--") ? nil : sqlite3_expanded_sql(OpaquePointer(statement))
                    defer { sqlite3_free(expanded) }
                    Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue().hear(
                        expanded.map { String(cString: $0) } ?? sql
                    )
                    return 0
                }
        sqlite3_trace_v2(
            handle,
            CUnsignedInt(SQLITE_TRACE_STMT),
            report,
            Unmanaged.passRetained(Listener(hear)).toOpaque()
        )
    }
}
