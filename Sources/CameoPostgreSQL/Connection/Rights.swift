internal import CameoQueue

/// What the role that opened a store may do. Most programs use the tables' owner; `deploy/postgresql/roles.sql` makes
/// roles with fewer rights.
struct Rights: Sendable {
    /// Whether it may accept requests: make tasks of them, and not only insert them as a producer's SQL does.
    let accepts: Bool
    /// Whether it may change tasks and what is kept about them, as workers do.
    let works: Bool
    /// Whether it may read pictures.
    let readsBytes: Bool

    init(_ connection: Connection, _ url: DatabaseURL) throws {
        let look = """
            SELECT has_table_privilege('\(url.quoted).job', 'INSERT') AND has_table_privilege('\(url.quoted).task', 'INSERT'),
              has_table_privilege('\(url.quoted).task', 'UPDATE'), has_table_privilege('\(url.quoted).blob', 'SELECT')
            """
        guard let row = try connection.run(look).rows.first else { throw DatabaseError("a statement returned no row") }
        (accepts, works, readsBytes) = (try row[0], try row[1], try row[2])
    }
}
