internal import Glibc

/// An IPv4 or IPv6 address, without port and scope.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address in host byte order: 127.0.0.1 is 0x7F000001.
    let bits: UInt128
    /// The number of bits of an address of this family: 32 or 128.
    let width: Int
}

extension IPAddress {
    init(v4 bits: UInt32) { self.init(bits: UInt128(bits), width: 32) }

    private init(v6: in6_addr) {
        let bits = withUnsafeBytes(of: v6) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
        self.init(bits: bits, width: 128)
    }

    /// Reads dotted decimal or RFC 4291 text, without brackets and scope; other spellings give nil.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        var (v4, v6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(v6: v6)
        } else {
            return nil
        }
    }

    /// Reads a `sockaddr_in` or `sockaddr_in6`; any other family, or too few bytes, gives nil.
    package init?(socketAddress bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
            self.init(v4: UInt32(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
            self.init(v6: bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default:
            return nil
        }
    }

    /// The address with zeros behind its first bits.
    func masked(to length: Int) -> IPAddress {
        let rest = width - length
        return IPAddress(bits: (bits >> rest) << rest, width: width)
    }

    package var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var bytes = (bits << (128 - width)).bigEndian
        inet_ntop(width == 32 ? AF_INET : AF_INET6, &bytes, &buffer, socklen_t(buffer.count))
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The IPv4 addresses embedded in this IPv6 address, to which a network on the path may deliver. An address guard that
    /// ignored them would let `::ffff:127.0.0.1` through.
    package var embedded: [IPAddress] {
        guard width == 128 else { return [] }
        var addresses: [IPAddress] = []
        func add(_ bits: UInt128) { addresses.append(IPAddress(v4: UInt32(truncatingIfNeeded: bits))) }

        switch bits >> 96 {
        case 0x0064_FF9B where (bits << 32) >> 64 == 0: add(bits)  // NAT64, RFC 6052: 64:ff9b::/96
        case 0x2001_0000:  // Teredo, RFC 4380: the server, and the client with its bits inverted
            add(bits >> 64)
            add(~bits)
        default: break
        }
        switch bits >> 32 {
        case 0 where bits > 1: add(bits)  // compatible, RFC 4291 2.5.5.1: ::a.b.c.d; :: and ::1 are none
        case 0xFFFF: add(bits)  // mapped, RFC 4291 2.5.5.2: ::ffff:a.b.c.d
        case 0xFFFF_0000: add(bits)  // translated, RFC 2765: ::ffff:0:a.b.c.d
        default: break
        }
        if bits >> 112 == 0x2002 { add(bits >> 80) }  // 6to4, RFC 3056
        switch UInt32(truncatingIfNeeded: bits >> 32) {  // ISATAP, RFC 5214 6.1: the interface id, below any prefix
        case 0x0000_5EFE, 0x0200_5EFE: add(bits)
        default: break
        }
        return addresses
    }
}
