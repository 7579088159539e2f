package import CameoModel
internal import Foundation

extension StoreRecord {
    /// The digest of a blob.
    package var digest: BlobDigest {
        get throws(StoreError) {
            guard case .text(let hex)? = values.first, let digest = BlobDigest(hex: hex) else {
                throw .refused(reason: "a blob's name is not a digest")
            }
            return digest
        }
    }

    /// The size of a blob in bytes.
    package var blobSize: Int {
        guard values.count > 1, case .integer(let size) = values[1] else { return 0 }
        return Int(size)
    }

    /// The media type of a blob.
    package var mediaType: String? {
        guard values.count > 2, case .text(let type) = values[2] else { return nil }
        return type
    }
}

extension StoreValue {
    /// For a message.
    var shortText: String {
        switch self {
        case .null: "null"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): String(text.prefix(200))
        case .bytes(let data): "\(data.count) bytes"
        }
    }
}
