import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DataURITests {
    @Test(
        arguments: [
            ("data:,", nil, []), ("data:,abc", nil, [97, 98, 99]), ("DATA:,a", nil, [97]), ("dAtA:,a", nil, [97]),
            ("data:image/png,a,b", "image/png", [97, 44, 98]), ("data:IMAGE/PNG,a", "image/png", [97]),
            ("data: image/png ,a", "image/png", [97]), ("data:;charset=utf-8,a", nil, [97]),
            ("data:,%00%fF%2c", nil, [0, 255, 44]), ("data:,a+b", nil, [97, 43, 98]), ("data:,ä", nil, [0xC3, 0xA4]),
            ("data:,a b#c?d", nil, [97, 32, 98, 35, 99, 63, 100]),
            ("data:;base64,", nil, []), ("data:;base64,QQ==", nil, [65]), ("data:;base64,QQ=", nil, [65]),
            ("data:;base64,QQ", nil, [65]), ("data:;base64,QUI", nil, [65, 66]),
            ("data:;base64,QUJD", nil, [65, 66, 67]),
            ("data:;base64,+/+/", nil, [0xFB, 0xFF, 0xBF]), ("data:;base64,-_-_", nil, [0xFB, 0xFF, 0xBF]),
            ("data:;base64,%2B%2f-_", nil, [0xFB, 0xFF, 0xBF]), ("data:;base64,Q U%0AJ%0D%09D", nil, [65, 66, 67]),
            ("data:;base64,QQ%3D%3D", nil, [65]), ("data:a/b;name=x;BASE64,QQ==", "a/b", [65]),
            ("data:a/b; base64 ,QQ==", "a/b", [65]), ("data:a/b;base64;name=x,QQ==", "a/b", [65]),
            ("data:base64,QQ==", "base64", [81, 81, 61, 61]), ("data:a/b;base64x,QQ==", "a/b", [81, 81, 61, 61]),
            // As a Swift Character, a comma with an accent is not a comma, and a Greek question mark is a semicolon.
            ("data:,\u{301}a", nil, [0xCC, 0x81, 97]), ("data:a\u{37E}base64,QQ", "a\u{37E}base64", [81, 81]),
        ] as [(String, String?, [UInt8])]
    )
    func readsBytesAndType(uri: String, type: String?, bytes: [UInt8]) throws {
        let data = try InlinePicture(parsing: uri)
        #expect(Array(data.bytes) == bytes)
        #expect(data.mediaType == type)
    }

    @Test(
        arguments: [
            "", "data", "data:", "data:image/png", "data:;base64", "date:,a", "xdata:,a", " data:,a", "data:,%",
            "data:,%4",
            "data:,%4g", "data:,%%41", "data:,%ä0", "data:;base64,Q", "data:;base64,QQ===", "data:;base64,QQ==QQ==",
            "data:;base64,=QQ=", "data:;base64,Q=Q", "data:;base64,QQ*", "data:;base64,QQ==#x", "data:;base64,ÄÄ",
            "data:;base64,QQ%00", "data:;base64,====",
        ]
    )
    func refusesMalformedURIs(uri: String) throws {
        let error = try #require(throws: InvalidRequest.self) { try InlinePicture(parsing: uri) }
        #expect(error.path == "source")
    }

    @Test func identityOfADataURIIsTheBlobOfItsBytes() throws {
        let blob = CameoURI.blob(BlobDigest(of: Data([65, 66, 67]))).text
        for uri in ["data:,ABC", "data:image/png;base64,QUJD", "DATA:;BASE64,Q%55JD", blob] {
            #expect(try SourceIdentity(of: uri).text == blob)
        }
    }
}
