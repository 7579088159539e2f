internal import CPostgreSQL
internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import CameoSystem
internal import Foundation

/// libpq's handle; closed with its owner.
private struct Handle: ~Copyable {
    let pointer: OpaquePointer

    deinit { PQfinish(pointer) }
}

// DESIGN. The statements of claims, settlements and sweeps are prepared when they come again: parsing and planning them took
// longer than running them. The server may keep a plan from when the tables were empty until the next ANALYZE. So only
// statements are prepared whose plan does not depend on that: those that insert, call a function, or find each row by its
// key, with sequential scans off (``StoreTables``). A pooler gives each transaction another process of the server, so nothing
// is prepared behind one, and the session has no other state between transactions. If a prepared statement has other
// columns than before, or is not there, the connection counts as lost: on another one the same transaction runs.

/// One connection to the server. Calls block: only ``ConnectionQueue`` makes them, on a thread of its own.
final class Connection {
    /// A statement with its parameters.
    struct Statement: Sendable {
        let sql: String
        let values: [(any SQLBindable)?]
        /// Whether its plan may be kept.
        let isPrepared: Bool

        init(_ sql: String, _ values: [(any SQLBindable)?] = [], prepared: Bool = false) {
            self.sql = sql
            self.values = values
            isPrepared = prepared
        }

        /// - Throws: ``StoreError/refused(reason:)`` for a text that would be cut at its NUL.
        fileprivate func check() throws {
            let hasNUL = values.contains { value in
                switch value?.sqlValue {
                case .text(let text): text.utf8.contains(0)
                case .texts(let texts): texts.contains { $0.utf8.contains(0) }
                case .written(let list): list.contains(0)
                case .integer, .real, .truth, .integers, .bytes, nil: false
                }
            }
            if hasNUL { throw StoreError.refused(reason: "PostgreSQL keeps no text with a NUL character") }
        }
    }

    /// What lacks where a first connection works and another does not.
    static let need =
        "A process that writes holds up to seven: a pooler with pool_mode = session and a role's CONNECTION LIMIT must allow them"

    /// The time in milliseconds after which a server that sends nothing counts as lost. It is longer than the
    /// statement timeout.
    private static let silence: Int32 = 90_000
    /// The same before a new connection has run a transaction: a pooler accepts it although no server's process is free for it.
    private static let introduction: Int32 = 7_000
    /// How long a server may take to accept a connection.
    static let patience = Duration.seconds(10)
    private static let byteaType: Oid = 17
    /// Else Pgpool-II sends what only reads to a standby, outside of the transaction.
    private static let byPrimary = "/*NO LOAD BALANCE*/ "

    private let handle: Handle
    private var patience = Connection.introduction
    /// Called every second while the server is silent, and says whether it may be waited for without end.
    var awaits: (() throws -> Bool)?
    private var prepared = PreparedStatements()
    /// Whether statements are prepared that come again.
    private var prepares = false
    /// Whether a pooler answers.
    private(set) var isPooled = false

    /// - Throws: ``DatabaseError``; ``StoreError/cannotOpen(path:reason:)`` if the database has another encoding than UTF-8
    init(_ url: DatabaseURL, mayPrepare: Bool = true, within limit: Duration = Connection.patience) throws {
        patience = max(1_000, min(Self.introduction, Int32(limit / .milliseconds(1))))
        // Keywords before the URL give way to it.
        let settings: KeyValuePairs = [
            "connect_timeout": "\(max(1, limit.components.seconds))", "keepalives_idle": "15",
            "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
            "fallback_application_name": "cameo",
            // Of several hosts, the one that is not a standby; and after a failover, none that still believes so.
            "target_session_attrs": url.acceptsStandby ? "any" : "read-write", "dbname": url.connection,
            "client_encoding": "UTF8",
        ]
        let started = ContinuousClock.now
        func call<Result>(_ function: (ConstantStrings, ConstantStrings, CInt) -> Result) -> Result {
            CStrings.withPointers(to: settings.map(\.key)) { keys in
                CStrings.withPointers(to: settings.map(\.value)) { function(constant(keys), constant($0), 1) }
            }
        }
        guard let pointer = call(PQconnectdbParams) else {
            throw DatabaseError("no memory for a connection", isConnectionLost: true)
        }
        handle = Handle(pointer: pointer)
        guard PQstatus(pointer) == CONNECTION_OK else {
            let error = lost()
            // Not after an attempt that took long: perhaps nobody answers.
            guard started.duration(to: .now) < .seconds(5), let again = call(PQconnectStartParams) else { throw error }
            let other = Handle(pointer: again)
            let state = Self.line(cameo_pq_refusal(other.pointer))
            throw DatabaseError(error.message, state: state, isConnectionLost: true)
        }
        // In SQL_ASCII one row of other bytes would stop every reader, and others cannot hold every request.
        let encoding = PQparameterStatus(pointer, "server_encoding").map { String(cString: $0) }
        if let encoding, encoding != "UTF8" {
            throw StoreError.cannotOpen(
                path: url.location,
                reason: "the encoding of the database is \(encoding), not UTF8; make another by CREATE DATABASE … "
                    + "TEMPLATE template0 ENCODING 'UTF8'"
            )
        }
        guard PQsetnonblocking(pointer, 1) == 0 else { throw lost() }
        // Notices ("relation exists, skipping") would go to standard error.
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        // A pooler of statements refuses the first, and not both at once.
        for statement in ["BEGIN", "COMMIT"] { try run(script: statement) }
        // A pooler tells a number of its own for the server's process, or that of a standby's, and gives each transaction another.
        guard let row = try run("\(Self.byPrimary)SELECT pg_backend_pid()").rows.first else { throw lost() }
        isPooled = try row[0] != Int64(PQbackendPID(pointer))
        prepares = mayPrepare && !isPooled
        patience = Self.silence
    }

    /// The server's process; nil behind a pooler, where each transaction has another.
    var process: Int64? { isPooled ? nil : Int64(PQbackendPID(handle.pointer)) }

    var descriptor: CInt { PQsocket(handle.pointer) }

    var isUsable: Bool { PQstatus(handle.pointer) == CONNECTION_OK }

    /// Runs one statement.
    @discardableResult
    func run(_ sql: String, _ values: [(any SQLBindable)?] = [], prepared: Bool = false) throws -> QueryResult {
        guard let result = try run([Statement(sql, values, prepared: prepared)]).first else { throw lost() }
        return result
    }

    /// Runs a script of statements without parameters.
    func run(script: String) throws {
        guard PQsendQuery(handle.pointer, script) == 1 else { throw lost() }
        var failure: (any Error)?
        while let result = try next() {
            do { _ = try checked(result) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Runs statements in one round trip. After one that fails, the server skips the rest.
    @discardableResult
    func run(_ statements: [Statement]) throws -> [QueryResult] {
        for statement in statements { try statement.check() }
        guard PQenterPipelineMode(handle.pointer) == 1 else { throw lost() }
        let uses = try statements.map(send)
        guard PQpipelineSync(handle.pointer) == 1 else { throw lost() }
        var (results, failure) = ([QueryResult](), (any Error)?.none)
        for (statement, use) in zip(statements, uses) {
            do { results.append(try receive(statement, use)) } catch {
                guard isUsable else { throw error }
                failure = failure ?? error
            }
            try finishStatement()
        }
        if let point = try next() { PQclear(point) }
        guard PQexitPipelineMode(handle.pointer) == 1 else { throw lost() }
        if let failure { throw failure }
        return results
    }

    /// Takes the notifications that have arrived.
    ///
    /// - Returns: their number.
    func takeNotifications() throws -> Int {
        guard PQconsumeInput(handle.pointer) == 1 else { throw lost() }
        var count = 0
        while let notification = PQnotifies(handle.pointer) {
            PQfreemem(notification)
            count += 1
        }
        return count
    }

    // MARK: - Protocol

    private func send(_ statement: Statement) throws -> PreparedStatements.Use {
        let values = statement.values.map { $0?.sqlValue }
        let buffers = values.map { $0?.buffer }
        defer { for buffer in buffers { buffer?.deallocate() } }
        let types: [Oid] = values.map { if case .bytes? = $0 { Self.byteaType } else { 0 } }
        let pointers = buffers.map { buffer in buffer?.baseAddress.map { UnsafePointer($0) } }
        let lengths = buffers.map { CInt($0?.count ?? 0) }
        let formats: [CInt] = values.map { if case .bytes? = $0 { 1 } else { 0 } }
        let count = CInt(values.count)
        let use = statement.isPrepared ? prepared.use(of: statement.sql, prepares: prepares) : .text
        let sql = isPooled ? Self.byPrimary + statement.sql : statement.sql
        if case .preparing(let name) = use {
            guard PQsendPrepare(handle.pointer, name, sql, count, types) == 1 else { throw lost() }
        }
        let isSent =
            switch use {
            case .text:
                PQsendQueryParams(handle.pointer, sql, count, types, pointers, lengths, formats, 0)
            case .preparing(let name), .prepared(let name):
                PQsendQueryPrepared(handle.pointer, name, count, pointers, lengths, formats, 0)
            }
        guard isSent == 1 else { throw lost() }
        return use
    }

    private func receive(_ statement: Statement, _ use: PreparedStatements.Use) throws -> QueryResult {
        if case .preparing = use {
            do { _ = try receive() } catch {
                prepared.forget(statement.sql)
                if isUsable {
                    // That of the statement itself, which was skipped.
                    try finishStatement()
                    if let skipped = try next() { PQclear(skipped) }
                }
                throw error
            }
            try finishStatement()
        }
        do { return try receive() } catch let error as DatabaseError {
            guard case .prepared = use, error.isUnknownStatement || error.isChangedStatement else { throw error }
            throw DatabaseError(error.message, state: error.state, isConnectionLost: true)
        }
    }

    private func finishStatement() throws {
        while let rest = try next() { PQclear(rest) }
    }

    private func receive() throws -> QueryResult {
        guard let result = try next() else { throw lost() }
        return try checked(result)
    }

    /// The next result of the current statement; nil at its end.
    private func next() throws -> OpaquePointer? {
        var start = ContinuousClock.now
        while true {
            let flushed = PQflush(handle.pointer)
            guard flushed >= 0 else { throw lost() }
            if flushed == 0, PQisBusy(handle.pointer) == 0 { return PQgetResult(handle.pointer) }
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN | (flushed == 1 ? POLLOUT : 0)), revents: 0)
            let ready = poll(&wanted, 1, awaits == nil ? patience : min(patience, 1_000))
            if ready == 0 {
                if let awaits {
                    if try awaits() { start = .now }
                    if start.duration(to: .now) < .milliseconds(patience) { continue }
                }
                let reason =
                    patience == Self.silence
                    ? "the server has been silent for too long"
                    : "a new connection got no answer within \(patience / 1_000) seconds. \(Self.need)"
                throw DatabaseError(reason, isConnectionLost: true)
            }
            guard ready > 0 || errno == EINTR else { throw lost() }
            guard PQconsumeInput(handle.pointer) == 1 else { throw lost() }
        }
    }

    private func checked(_ pointer: OpaquePointer) throws -> QueryResult {
        let result = QueryResult(adopting: pointer)
        switch PQresultStatus(pointer) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return result
        case PGRES_PIPELINE_ABORTED: throw DatabaseError("an earlier statement failed")
        default:
            func field(_ code: UnicodeScalar) -> String? {
                PQresultErrorField(pointer, CInt(code.value)).map { String(cString: $0) }
            }
            throw DatabaseError(
                field("M") ?? Self.line(PQresultErrorMessage(pointer)),
                state: field("C") ?? "",
                constraint: field("n"),
                isConnectionLost: !isUsable
            )
        }
    }

    private func lost() -> DatabaseError {
        DatabaseError(Self.line(PQerrorMessage(handle.pointer)), isConnectionLost: true)
    }

    /// libpq's message in one line.
    private static func line(_ message: UnsafePointer<CChar>?) -> String {
        message.map { String(cString: $0) }?.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ") ?? "unknown reason"
    }
}

extension SQLValue {
    /// The value as it is sent: as text that ends with a NUL, whose type the server infers from its place (where it cannot,
    /// the statement casts), or in binary form as `bytea`.
    fileprivate var buffer: UnsafeMutableBufferPointer<CChar> {
        switch self {
        case .integer(let number): return Self.terminated(String(number).utf8)
        case .real(let number): return Self.terminated(String(number).utf8)
        case .truth(let truth): return Self.terminated((truth ? "t" : "f").utf8)
        case .text(let text): return Self.terminated(text.utf8)
        case .integers(let numbers): return SQLArray(numbers).sqlValue.buffer
        case .texts(let texts): return SQLArray(texts).sqlValue.buffer
        case .written(let list): return Self.terminated(list)
        case .bytes(let data):
            // At least one byte: a null pointer would be NULL.
            let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: max(1, data.count))
            data.withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
            return UnsafeMutableBufferPointer(rebasing: buffer[0..<data.count])
        }
    }

    private static func terminated(_ text: some Collection<UInt8>) -> UnsafeMutableBufferPointer<CChar> {
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.count + 1)
        UnsafeMutableRawBufferPointer(buffer).copyBytes(from: text)
        buffer[text.count] = 0
        return buffer
    }
}

private typealias ConstantStrings = UnsafePointer<UnsafePointer<CChar>?>?

/// C strings as libpq takes them.
private func constant(_ strings: UnsafePointer<UnsafeMutablePointer<CChar>?>) -> ConstantStrings {
    UnsafeRawPointer(strings).assumingMemoryBound(to: UnsafePointer<CChar>?.self)
}

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
