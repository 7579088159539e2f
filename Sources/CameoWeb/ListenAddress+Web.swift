package import CameoModel
internal import Hummingbird

extension ListenAddress {
    /// The default, which other machines cannot reach.
    package static let standard = ListenAddress.tcp(host: "127.0.0.1", port: 8080)

    var bindAddress: BindAddress {
        switch self {
        case .tcp(let host, let port): .hostname(host, port: port)
        case .unix(let path): .unixDomainSocket(path: path)
        }
    }
}
