internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func maintenanceTurn() async throws(StoreError) -> MaintenanceTurn? {
        let holder = UUID().uuidString
        guard try await transaction({ db in try MaintenanceLease.take(as: holder, db) }) else { return nil }
        return MaintenanceTurn(MaintenanceLease(of: self, holder: holder))
    }

    /// Gives the right back, soon after the call. If that fails, its lease runs out.
    func release(_ holder: String) {
        errands.start { [self] in
            _ = try? await transaction { db in
                try db.execute("UPDATE maintenance SET holder = NULL WHERE holder = $1", [holder])
            }
        }
    }
}
