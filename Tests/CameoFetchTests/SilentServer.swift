import CameoModel
import CameoSystem
import Glibc

/// A port on 127.0.0.1 that accepts connections, in the kernel, and never says anything.
final class SilentServer: Sendable {
    let port: Int
    private let listener: OpenFile

    init() throws {
        listener = OpenFile(adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener.descriptor
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isOpen else { throw Errno() }
        port = Int(UInt16(bigEndian: address.sin_port))
    }
}
