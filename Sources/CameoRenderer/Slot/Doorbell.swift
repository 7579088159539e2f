internal import CLinux
internal import CameoModel
internal import Glibc

/// Wakes a polling thread with an eventfd: any thread rings, one listens.
final class Doorbell: Sendable {
    private let file: OpenFile

    init() throws(Errno) {
        let descriptor = cameo_eventfd()
        guard descriptor >= 0 else { throw Errno() }
        file = OpenFile(adopting: descriptor)
    }

    /// The descriptor, readable from a ring until ``silence()``.
    var descriptor: Int32 { file.descriptor }

    func ring() {
        var one: UInt64 = 1
        write(file.descriptor, &one, 8)
    }

    func silence() {
        var count: UInt64 = 0
        read(file.descriptor, &count, 8)
    }
}
