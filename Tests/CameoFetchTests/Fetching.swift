import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

/// A fetch that must fail, and how it did.
func failure(of source: String, headers: [String: String] = [:], with fetcher: Fetcher) async throws -> JobFailure {
    let failure = await #expect(throws: JobFailure.self, "\(source)") {
        _ = try await fetcher.fetch(source, headers: headers)
    }
    let found = try #require(failure)
    #expect(found.stage == .fetch)
    return found
}

/// A fetch that must fail with a code, the words in its message, and whether another attempt may succeed.
func expect(
    _ code: JobFailure.Code,
    of source: String,
    by fetcher: Fetcher,
    saying words: String...,
    isRetryable: Bool? = nil
) async throws {
    let failure = try await failure(of: source, with: fetcher)
    #expect(failure.code == code, "\(failure.message)")
    for text in words { #expect(failure.message.contains(text)) }
    #expect(isRetryable == nil || failure.isRetryable == isRetryable)
}

extension Origin {
    /// A URL that redirects to this target, whatever it is.
    func redirect(to target: String, status: Int = 302, host: String = "127.0.0.1") throws -> String {
        try url("/redirect?status=\(status)&to=\(escaped(target))", host: host)
    }
}

func escaped(_ text: String) throws -> String {
    try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
}

extension FetchConfiguration {
    /// Loopback is allowed; the time is a guard against hanging.
    static var forTests: FetchConfiguration {
        var configuration = FetchConfiguration()
        configuration.allowedNetworks = [AddressRange("127.0.0.0/8"), AddressRange("::1/128")].compactMap(\.self)
        configuration.totalTimeout = .seconds(300)
        configuration.connectTimeout = .seconds(120)
        configuration.lowSpeedTime = .seconds(300)
        configuration.hostPatience = .seconds(300)
        return configuration
    }

    func with<Value>(_ field: WritableKeyPath<FetchConfiguration, Value>, _ value: Value) -> FetchConfiguration {
        var copy = self
        copy[keyPath: field] = value
        return copy
    }
}

extension FetchedSource {
    /// All bytes, read at offset 0 as a renderer does.
    func contents() throws -> Data {
        var bytes = [UInt8](repeating: 0, count: self.bytes + 1)
        let count = pread(file.descriptor, &bytes, bytes.count, 0)
        return Data(bytes[..<(try #require(count >= 0 ? count : nil))])
    }

    /// Where the next read would begin.
    var offset: Int { Int(lseek(file.descriptor, 0, SEEK_CUR)) }
}
