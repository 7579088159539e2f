/// A comparison of the store's rows with one another and with its bytes, for operators.
package protocol CheckedStore: AnyStore {
    /// Checks the store's consistency. Reads every blob.
    ///
    /// - Parameter report: called with progress, from any thread, while blobs are read.
    /// - Returns: all findings, including those without problems.
    /// - Throws: ``StoreError``
    func check(report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding]
    /// Fixes what the rows and bytes themselves prove to be wrong.
    ///
    /// - Parameters:
    ///   - turn: prevents copying and pruning meanwhile.
    ///   - report: called with progress, from any thread, while blobs are read.
    /// - Returns: what was fixed; empty if nothing was.
    /// - Throws: ``StoreError``
    func repair(
        in turn: MaintenanceTurn,
        report: @Sendable (ByteProgress) -> Void
    ) async throws(StoreError) -> [CheckFinding]
}
