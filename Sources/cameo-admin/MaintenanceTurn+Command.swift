internal import CameoStore
internal import CommandSupport

extension MaintenanceTurn {
    static func ofCommand(in store: any Store) async throws -> MaintenanceTurn {
        guard let turn = try await store.maintenanceTurn(within: patience) else {
            throw CommandFailure("another process prunes or copies the store; try again", .failed)
        }
        return turn
    }
}
