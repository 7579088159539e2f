import CameoModel
import CameoSystem
import Foundation
import Glibc

/// A TCP connection to loopback that sends exactly what it is told to.
struct RawConnection {
    private let socket: OpenFile

    /// With `room`, the system keeps no more bytes for a client that does not read.
    init(port: UInt16, room: CInt? = nil) throws {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Errno() }
        socket = OpenFile(adopting: descriptor)
        if var room { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size)) }
        // It blocks a thread, which the end of a task does not reach.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Errno() }
    }

    /// A port that was free a moment ago.
    static func freePort() throws -> UInt16 {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Errno() }
        let socket = OpenFile(adopting: descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.descriptor, $0, length) == 0 ? getsockname(socket.descriptor, $0, &length) : -1
            }
        }
        guard result == 0 else { throw Errno() }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Sends, and reads until the other side has ended. What it no longer takes is not sent.
    func exchange(_ bytes: Data) throws -> Data {
        send(bytes)
        var received = Data()
        while let part = try receive() { received.append(part) }
        return received
    }

    func send(_ bytes: Data) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends both directions, which also ends a `receive` of another thread.
    func end() { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

    /// Nil at the end.
    func receive() throws -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else {
            if errno == ECONNRESET { return nil }
            throw Errno()
        }
        return count == 0 ? nil : Data(buffer[..<count])
    }
}

/// An HTTP/1.1 answer as it came.
struct RawAnswer {
    struct Malformed: Error {
        let text: String
    }

    let status: Int
    /// By names in lower case.
    let headers: [String: String]
    let body: Data

    init(_ bytes: Data) throws {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else {
            throw Malformed(text: String(decoding: bytes, as: UTF8.self))
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Malformed(text: lines[0])
        }
        self.status = status
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            headers[parts[0].lowercased()] = parts.count == 2 ? parts[1] : ""
        }
        self.headers = headers
        body = Data(bytes[end.upperBound...])
    }

    subscript(name: String) -> String? { headers[name.lowercased()] }

    var text: String { String(decoding: body, as: UTF8.self) }

    var json: JSONValue {
        get throws { try JSONValue(parsing: body) }
    }
}

extension JSONValue {
    /// A member of an object; `null` where there is none.
    subscript(name: String) -> JSONValue {
        guard case .object(let members) = self else { return .null }
        return members[name] ?? .null
    }
}
