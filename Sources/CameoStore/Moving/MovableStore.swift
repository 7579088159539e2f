package import Foundation

/// What one engine needs of another so that a store can move between them. ``Move`` has the order of the calls.
package protocol MovableStore: AnyStore {
    /// The move away from here, or the one to here; nil if there was none.
    func move(_ direction: StoreMove.Direction) async throws(StoreError) -> StoreMove?

    // MARK: - The store that moves

    /// Closes the store to all other programs, with all jobs that SQL has inserted accepted. A move to the same place
    /// that was begun before goes on.
    ///
    /// - Parameter place: where it moves to.
    /// - Returns: the move.
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if workers are alive, or it moves elsewhere.
    func beginMove(to place: String) async throws(StoreError) -> StoreMove
    /// Records that everything is at the other place. The store stays closed.
    func endMove() async throws(StoreError)
    /// Reopens the store.
    ///
    /// - Returns: the move that was given up.
    /// - Throws: ``StoreError/refused(reason:)`` if there is none.
    func cancelMove() async throws(StoreError) -> StoreMove

    // MARK: - The place it moves to

    /// What has arrived of a move; nil if nothing has and the place is empty.
    ///
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if it holds anything else.
    func reception(of move: String?) async throws(StoreError) -> StoreMove?
    /// Closes an empty place to all other programs, to receive a store.
    ///
    /// - Parameters:
    ///   - move: the id of the move.
    ///   - place: the location of the store that moves.
    /// - Returns: the move as it is recorded here, with what has arrived if it was begun before.
    /// - Throws: as ``reception(of:)``
    func beginReception(of move: String, from place: String) async throws(StoreError) -> StoreMove
    /// Makes a blob's bytes durable, unless they go into its row.
    ///
    /// - Returns: the record, with the bytes if they go into its row.
    func receive(_ bytes: Data, of blob: StoreRecord) async throws(StoreError) -> StoreRecord
    /// Stores records of a kind and the position up to which all are there, in one transaction.
    ///
    /// - Throws: ``StoreError/refused(reason:)`` if the tables do not take one of them; then nothing was written.
    func receive(_ records: [StoreRecord], _ position: StoreMove.Position) async throws(StoreError)
    /// Computes what follows from the records. Repeating it does no harm.
    func completeReception() async throws(StoreError)
    /// Opens the store to all programs.
    func endReception() async throws(StoreError)

    // MARK: - Both

    /// Records of a kind in the engine's order.
    ///
    /// - Parameters:
    ///   - kind: which records.
    ///   - cursor: the last record of the page before; nil for the first page.
    ///   - limit: the maximum number. A page of large records ends earlier, but has at least one.
    /// - Returns: none after the last.
    /// - Throws: ``StoreError``
    func records(of kind: RecordKind, after cursor: StoreCursor?, limit: Int) async throws(StoreError) -> [StoreRecord]
    func count(of kind: RecordKind) async throws(StoreError) -> Int
}
