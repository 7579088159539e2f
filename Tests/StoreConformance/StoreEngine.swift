package import CameoStore
package import Foundation

// DESIGN. What every engine has to keep is tested through the protocols of stores. What these do not tell or cannot
// bring about, such as the death of a process or a row of another program, an engine does for its tests through this
// one.

/// An engine under test, which creates stores.
package protocol StoreEngine: Sendable {
    /// Creates a new store with a clock that the test controls.
    func makeStore(clock: ConformanceClock) async throws -> any Store
    /// Opens the same store as another process would.
    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store
    /// Opens the same store as a program that only reads.
    func reader(of store: any Store, clock: ConformanceClock) async throws -> any Store
    /// Releases a worker's lock, as the death of its process does.
    func kill(_ worker: String, in store: any Store) async throws
    /// Writes the readings that a store has noted, as workers do from time to time.
    func recordReadings(of store: any Store) async throws
    /// Runs statements as another program does, for example a producer. All engines have tables and columns of the same
    /// names, and the statements of the tests are SQL that each of them understands.
    ///
    /// - Returns: the rows, one a line, their columns separated by `|`.
    func sql(_ statements: String, in store: any Store) async throws -> String
    /// Hands over a picture with a request for its thumbnails, as a producer does by SQL.
    func upload(_ data: Data, _ request: String, _ columns: [String: String], in store: any Store) async throws
    /// Accepts all rows that other programs have inserted, as each claim does first.
    func acceptArrivals(in store: any Store) async throws
    /// Deletes a job's row although that is refused, as a program does that turns triggers off.
    func lose(_ job: Int64, in store: any Store) async throws
    /// Enters all jobs as if they were new, as a restore does that brings rows alone.
    func enterAgain(in store: any Store) async throws
    /// Marks the tables as those of a newer version, whose programs this one must not hinder.
    func takeOver(_ store: any Store) async throws
    /// Removes an ended job as retention does.
    func remove(_ job: Int64, in store: any Store) async throws
    /// The name of a table of another program beside the store's, which the caller may create.
    func guestTable(in store: any Store) async throws -> String
    /// What the engine finds wrong in its rows, such as counts that differ from what they count; empty for a sound
    /// store.
    func faults(in store: any Store) async throws -> [String]
}
