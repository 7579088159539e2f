import CameoHTTPCache
import Foundation

/// Thursday, 31 January 2030, 12:00:00 GMT, when the answers of the tests come.
let noon = Date(timeIntervalSince1970: 1_896_091_200)

func fields(_ lines: [String]) -> HTTPFields {
    HTTPFields(
        lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return HTTPFields.Line(name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : "")
        }
    )
}

/// An answer that came at noon, at once.
func answer(_ lines: String..., status: Int = 200) -> CacheableResponse { answer(lines, status: status) }

func answer(_ lines: [String], status: Int = 200) -> CacheableResponse {
    CacheableResponse(status: status, fields: fields(lines), requestTime: noon, responseTime: noon)
}

func after(noon seconds: Double) -> String { HTTPDate.text(of: noon + seconds) }

let shared = CachePolicy(audience: .shared)
let oneTenant = CachePolicy(audience: .oneTenant)
let plain = HTTPFields()
