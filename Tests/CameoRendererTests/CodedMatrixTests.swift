import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Every matrix and range by which AVIF and HEIC can be coded, with 8, 10 and 12 bits a sample: the colours are those of ITU-T
/// H.273, 8.3. AVIF's were compared with Chromium 156, which differs from them by at most 5 of 255 and refuses what is refused here.
@Suite(.timeLimit(.minutes(10)))
struct CodedMatrixTests {
    struct File: Hashable, CustomTestStringConvertible {
        let ending: String
        let bits: Int

        init(_ ending: String, bits: Int) { (self.ending, self.bits) = (ending, bits) }

        var testDescription: String { "\(ending), \(bits) bits" }
    }

    /// Four fields of 32 × 32 pixels, of luma and two differences of colour, by 8 bits.
    private static let fields = [[130, 100, 180], [90, 160, 110], [180, 128, 128], [60, 120, 140]]

    /// 64 × 64 pixels without loss, of which the boxes say that the planes are green, blue and red (libavif 0.11, libheif 1.23).
    private static let files: [File: String] = [
        .init("avif", bits: 8): """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxp\
        YmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAAEkAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAAB\
        AABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgSAAAAAA\
        ABNjb2xybmNseAABAA0AAIAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAAFFtZGF0EgAKCTgVf/+UBDQAgDI6EAAAkvGm9/Z2RialeO8M\
        qOEqUqie2Jly6oSeHkmHiF/0mDgLu8V5Jk6kfNMKQkBs4M1o3eRqBJosxA==
        """,
        .init("avif", bits: 10): """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxp\
        YmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAAFAAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAAB\
        AABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwoKCgAAAAxhdjFDgSBAAAAA\
        ABNjb2xybmNseAABAA0AAIAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAAFhtZGF0EgAKCTgVf/+cBDQAgDJBEAAAkvG4cHHMO0ahhy0A\
        lQBoH4KJXPQcIJA1S+RliNM4nyX/TWl/qHZleQP6YkfNK4/FwGxU7PqN3dzGPJl9r0A=
        """,
        .init("avif", bits: 12): """
        AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAPJtZXRhAAAAAAAAAChoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAbGliYXZp\
        ZgAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAEWAAAAVgAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2\
        MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAQcGl4aQAAAAADDAwMAAAADGF2MUOBQGAAAAAAE2Nv\
        bHJuY2x4AAEADQAAgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAAXm1kYXQSAAoJWBV//50BDQAgMkcQAACS8bhr14MYVT72TS0YHP/2\
        hCQolYIKriCQNMj1lliNLGjFpf9NaX9atg5Xj6qwQkfNKjVdPAbDBW2Kjd3Aj3HJlMw6QA==
        """,
        .init("heic", bits: 8): """
        AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAVVtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJp\
        bG9jAAAAAERAAAEAAQAAAAABeQABAAAAAAAAAwwAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAAB\
        AAAA1WlwcnAAAAC2aXBjbwAAAHdodmNDAQQIAAAAnjgAAAAA//AA/P/4+AAADwNgAAEAF0ABDAH//wQIAAADAJ44AAADAAD/ugJAYQAB\
        ACpCAQEECAAAAwCeOAAAAwAA/5AEECCy3UklNc3AQ0ABAAADABkAAAMAAQhiAAEACEQBwXAwYJEgAAAAE2NvbHJuY2x4AAEADQAAgAAA\
        ABRpc3BlAAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwgICAAAABdpcG1hAAAAAAAAAAEAAQSBAgMEAAADFG1kYXQAAAMIKAGvBbgUe6AA\
        AAMBzVQBf//Ina//+4trZMxqqqq2uuuuuuo8//Y90AP8/+d+V8Li4uLi4+Pj4+Pj4+O8CZitiWIWUOX6cU1HUkrN//7XtpXXo5cuXLoS\
        JEiRIkRNBPqJoAbbs9zBlOTDw8PDxX19fX19fXwEFzX7//8PzhvHp7eva9r2vbFUVRVFUVRVFT/+Zn//nSmb0yyyLz6TXXYtNq6Ejy//\
        +HlsBvubNkcJ69O4GAv//+fq80mLikdJuVkL5rZmOqFXx//wYlnBsHuqOc4vvbeXXD//hxZQK+ybm0In7xZrlVccX//5OhRsrz7kDLwh\
        C1jhr7//oCw9aftA5lVcMlSwnJDF+JcABMw9YU/uVA6Ojo6Pw8PDw8PDwt1dKsANyy1JdhcAAAMAOGGGGGF8pVe7//5V8mgUrhnZ2dna\
        aGhoaGhoZ+oAAsdHRKFgnBmdWmXc5mVtdGgABX6pjASC/l2P3EAnRu3CgADYj/pwD9P/N8ZtrF/kP4UAGlgANGby6TUmrG9B7CcRVOE8\
        AAoG9cLEQXxLR5wM73L40DGgAXt7Hi4NpM1O8gRKO/5VYABYc7jVECKEX25u58ztHAiiZQDQO1Eo0bmX//7W2SSSdtttukkkkkkj+LT+\
        //rOKqqr+7u7rVhbwDB5A5znOdspSlKTZT//4APRRRk888+bbbbbbae5//8Ttami6aLvZOGRsv3zmnq7zPu9W//9cSpe0PxxxyP/////\
        /vt//5Khsss9hhhiySSSSSScyU//+T3IkjJQgwLPbguYKm3MFUAQnkf/+yLYHENIvPzX3f38TeL+JvgXyAz+P/+fW1zIhhBBBS222222\
        ts//7VePaE64445wAAADAAADAdz9//uKKrAWW666+NtttttsFf//DeBWsDrrrr22222224AAHwv//ShgKuFZnFcF407iGjM5KKv1O8X/\
        /fQpFTGhuSGeoXJpmJSaMfRR+JOJ//+zvKnh9Lf5STHGunJ4nN0ddaJy///CHUrnnrbdLLT7fh3wkBP0O8iy98g=
        """,
        .init("heic", bits: 10): """
        AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAVZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJp\
        bG9jAAAAAERAAAEAAQAAAAABegABAAAAAAAAAeUAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAAB\
        AAAA1mlwcnAAAAC3aXBjbwAAAHhodmNDAQQIAAAAnDgAAAAA//AA/P/6+gAADwNgAAEAF0ABDAH//wQIAAADAJw4AAADAAD/ugJAYQAB\
        ACtCAQEECAAAAwCcOAAAAwAA/5AEECCbLdSSU1zcBDQAEAAAAwGQAAADABCAYgABAAhEAcFwMGCRIAAAABNjb2xybmNseAABAA0AAIAA\
        AAAUaXNwZQAAAAAAAABAAAAAQAAAABBwaXhpAAAAAAMKCgoAAAAXaXBtYQAAAAAAAAABAAEEgQIDBAAAAe1tZGF0AAAB4SgBrwW4FHuh\
        WgD3lVVVV3d3d2VD//5E7X//+DTwOj3vv+YOYOYOYOZtZtZtZtZtZtZtYjn/7HugB/6X/0r/Rv59+Xfl35d+Xfl/5f+X/l/5f+X/l/5f\
        eBMxWxLELKHL9OKafGA88rN//+xn9ij1/OtJppppppppp/p/p/p/p/p/p/prKf2piALPl+/Lnco1jsoOKDig4oOKEPhD4Q+EPhD4Q+EP\
        g5d/mv3//+Kw/FQ3EyWHqn1p9afWn1p+Xfl35d+Xfl35d+XfawFVy5Zkk1yLD//6/LHS9ESuhpxaR1pAXKv2XAUTUd045v//l1LX/Jo2\
        Xww2AgYBdAiaVRCvaAiQBBEIGnBMOmuAALXele80LtkcReW3lt5beW3mbZm2ZtmbZm2ZtmbZcoOH2AG7bk7ZIyz17e/e/e/e/fbPbPbP\
        bPbPbPbPARsrH//7tx3YgcxPZ9QZUGVBlQZUMbDGwxsMbDGwxsMbCBrZwCQO1wXuYsLfI7//6+LXPdR8HCDSDSDSDSHhHhHhHhHhHhHh\
        DZzyT//xYhSNe6iiilggggggeWL7YBxI8UP3W1nTp06gzZs2bNmyQsn///GZfjGbitLD1UCtQK1ArUCtQN/A38DfwN/A38DfwN/AvHrg\
        +LjznIw=
        """,
        .init("heic", bits: 12): """
        AAAAGGZ0eXBoZWl4AAAAAG1pZjFoZWl4AAABVm1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAHBpY3QAAAAAAAAAAAAAAAAAAAAAImlsb2MA\
        AAAAREAAAQABAAAAAAF2AAEAAAAAAAAB+QAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGh2YzEAAAAADnBpdG0AAAAAAAEAAADW\
        aXBycAAAALdpcGNvAAAAeGh2Y0MBBAgAAACYOAAAAAD/8AD8//z8AAAPA2AAAQAXQAEMAf//BAgAAAMAmDgAAAMAAP+6AkBhAAEAK0IB\
        AQQIAAADAJg4AAADAAD/kAQQIIpS3UklNc3AQ0ABAAADABkAAAMAAQhiAAEACEQBwXAwYJEgAAAAE2NvbHJuY2x4AAEADQAAgAAAABRp\
        c3BlAAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwwMDAAAABdpcG1hAAAAAAAAAAEAAQSBAgMEAAACAW1kYXQAAAH1KAGvBbgUe6FaAP6/\
        1fN2uuuuvvvvvvvvKh//8idr///w+H4dk4XowXg+gD6APoA+gD6vvq++r76vvq++r76vvonP/2PdAD/9O//p1/6bf9Lv9Hv9Hv9Hv9Hv\
        9H/9H/9H/9H/9H/9H/9H/9H7wJmK2JYhZQ5fpxTT4wHnlZv//9lT/spH7I59jE9gU9gU9gU9gU9gf9gf9gf9gf9gf9gf9gf9gVlP7UxA\
        Fn80F/md75kq8vhcp5cp5cp5cp5cqP8qP8qP8qP8qP8qP8qP8p67/Nfv///FvX+La74suvFWlxOBcTgXE4FxOBcTn/E5/xOf8Tn/E5/x\
        Of8Tn/E4mAquXLMk1c4h1wntwAABI/LPv5ZZeVx3KUbJLbJLbJLbJLbJP/JP/JP/JP/JP/JP/JP/JLzagrADd7nB9zFNxWLbwM3gzeDN\
        4M3gzr7Ovs6+zr7Ovs6+zr7N4jZWP//95LPvH4bwcl2sxzpxzpxzpxzpxz19z19z19z19z19z19z19ztUihYE+ZNPR3n2tYzQ///xGb4\
        hlYbDQb9+e357fnt+e36vvq++r76vvq++r76vvnvvP7//9YHqtKXg3+QeQeQeQeS8S8S8S8S8S8S8Qiwt4BibSV2hmZVG+UJbCWwlsJb\
        Cc6nOpzqc6nOpzqc6mMhPcoqbtyw
        """,
    ]

    /// The shares of red and blue in luma, by the number of the matrix; 2 is unspecified, and 12 goes by the primaries.
    private static let shares: [Int: (red: Double, blue: Double)] = [
        1: (0.2126, 0.0722), 2: (0.299, 0.114), 4: (0.30, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114),
        7: (0.212, 0.087),
        9: (0.2627, 0.0593), 12: (0.2126, 0.0722),
    ]

    /// The colour of a field, 0…255; nil if there is none.
    private static func color(_ field: [Int], _ bits: Int, _ matrix: Int, isFull: Bool) -> [Double]? {
        let whole = Double(1 << bits - 1), step = Double(1 << (bits - 8))
        let values = field.map { Double($0) * step }
        func luma(_ value: Double) -> Double { isFull ? value / whole : (value - 16 * step) / (219 * step) }
        func difference(_ value: Double) -> Double { (value - 128 * step) / (isFull ? whole : 224 * step) }
        let (y, blue, red) = (luma(values[0]), difference(values[1]), difference(values[2]))
        let color: [Double]
        switch matrix {
        case 0: color = [luma(values[2]), y, luma(values[1])]
        case 8: color = [y - blue + red, y + blue, y - blue - red]
        default:
            guard let share = shares[matrix] else { return nil }
            let (r, b) = (y + 2 * (1 - share.red) * red, y + 2 * (1 - share.blue) * blue)
            color = [r, (y - share.red * r - share.blue * b) / (1 - share.red - share.blue), b]
        }
        return color.map { min(1, max(0, $0)) * 255 }
    }

    @Test(arguments: files.keys.sorted { ($0.ending, $0.bits) < ($1.ending, $1.bits) }, [true, false])
    func colorsAreThoseOfTheirMatrix(_ file: File, isFull: Bool) async throws {
        let folder = try TemporaryFolder()
        for matrix in [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] {
            var bytes = try #require(Data(base64Encoded: Self.files[file] ?? ""))
            let box = try #require(bytes.range(of: Data("colrnclx".utf8)))
            bytes[box.upperBound + 5] = UInt8(matrix)
            bytes[box.upperBound + 6] = isFull ? 0x80 : 0
            let path = try folder.write(bytes, to: "matrix-\(matrix).\(file.ending)")
            let rendition = Rendition(width: 64, format: .png)
            let what = Comment("matrix \(matrix)")
            guard let expected = Self.color([0, 0, 0], file.bits, matrix, isFull: isFull), isFull || matrix != 8 else {
                let error = await #expect(throws: JobFailure.self, what) {
                    try await render(rendition, of: path)
                }
                #expect(error?.code == .imageUnsupportedFormat, what)
                continue
            }
            #expect(expected.count == 3)
            let picture = try await render(rendition, of: path)
            let grid = try await PixelGrid(of: picture.renditions[0])
            for (index, field) in Self.fields.enumerated() {
                let pixel = grid[index % 2 * 32 + 16, index / 2 * 32 + 16]
                let color = try #require(Self.color(field, file.bits, matrix, isFull: isFull))
                let isNear = zip(pixel, color).allSatisfy { abs(Double($0) - $1) <= 5 }
                #expect(pixel.count == 3 && isNear, "matrix \(matrix), \(field): \(pixel), not \(color)")
            }
        }
    }
}
