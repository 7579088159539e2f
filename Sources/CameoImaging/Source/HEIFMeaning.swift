internal import CHEIF
internal import CVips
internal import CameoModel

/// What the pixels of HEIF and AVIF mean, where libvips takes them for something else.
extension HEIFItem {
    /// The picture with the values that its file means, of which libvips has others.
    func understood(_ picture: borrowing VipsPicture, in file: UnsafeRawBufferPointer) -> VipsPicture? {
        let (format, largest, size) = (picture.format, Double(picture.largestNumber), picture.size)
        var result: VipsPicture? = picture.sharingReference()
        // Of others, libheif expands the range; of planes that are colours themselves, the wrong way.
        let isFull = isGrey ? hasFullRange ?? (cameo_heif_has_full_range(file.baseAddress, file.count) != 0) : true
        if !isFull || isRGBOfLimitedRange {
            // Black is at 16 and white at 235 of 255, and alike of more bits.
            let (factor, offset) = (largest / (219 * (largest + 1) / 256), -16 * largest / 219)
            result = result?.changingColors {
                $0.scaled(by: [factor], adding: [offset])?.rounded()?.cast(to: format)
            }
        }
        if let more = moreBits, format == VIPS_FORMAT_USHORT {
            // libvips has the planes as they are: orange, luma, green (H.273, 8.3), in the upper bits.
            let whole = 65_535 / Double(1 << (16 - bits)) / Double((1 << (bits - more)) - 1)
            let half = more == 0 ? whole : whole / 2
            result = result?.changingColors {
                $0.mixed(by: [half, whole, -half, 0, whole, half, -half, whole, -half])?
                    .scaled(by: [1, 1, 1], adding: [0, -half * 32_768, half * 65_536])?.rounded()?.cast(to: format)
            }
        }
        guard otherOpacity != nil else { return result }
        let options = LoadOptions()
        guard let small = VipsPicture(openingCopyOf: withOpacityAsPicture(file), as: .heif, options)?.materialized()
        else { return nil }
        let (across, down) = size.factors(from: small.size)
        let share = largest / Double(small.largestNumber)
        let opacity = small.bands(from: 0, count: 1)?.resized(horizontalScale: across, verticalScale: down)?
            .scaled(by: [share], adding: [0])?.rounded()?.cast(to: format)
        guard let opacity, opacity.size == size else { return nil }
        return result?.bands(from: 0, count: picture.colorBands)?.joined(with: opacity)
    }

    /// The file with what hides its picture in place of the picture.
    private func withOpacityAsPicture(_ file: UnsafeRawBufferPointer) -> [UInt8] {
        var (bytes, number): ([UInt8], [UInt8]) = (Array(file), [])
        for place in bytes.places(of: "pitm").prefix(1) {
            number.append(otherOpacity ?? 0, count: bytes[place + 4] == 0 ? 2 : 4)
            bytes.replaceSubrange(place + 8..<place + 8 + number.count, with: number)
        }
        for place in bytes.places(of: "auxl") { bytes.replaceSubrange(place..<place + 4, with: "skip".utf8) }
        // A hidden item is no picture.
        for place in bytes.places(of: "infe") { bytes[place + 7] &= 0xFE }
        return bytes
    }

    /// The file with planes that are red, green and blue of the full range, as far as libheif is told, where it would compute something
    /// else of them than they mean; nil if it would not.
    func withPlainPlanes(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard moreBits != nil || isRGBOfLimitedRange else { return nil }
        var bytes = Array(file)
        // The number of the matrix has two bytes, the range is one bit.
        for place in bytes.places(of: "colrnclx") where [0, UInt8(matrix ?? 0)] == bytes[(place + 12)..<(place + 14)] {
            (bytes[place + 13], bytes[place + 14]) = (0, 0x80)
        }
        return bytes
    }

    private var isRGBOfLimitedRange: Bool { matrix == 0 && hasFullRange == false }

    /// How many bits the samples of YCgCo, which libheif takes for 8, and of YCgCo-Re and -Ro, which it does not know, have more than
    /// those of red, green and blue; nil if they are others.
    private var moreBits: Int? { bits > 8 ? [8: 0, 16: 2, 17: 1][matrix ?? 0] : nil }

    /// The matrix by its number if nothing here knows it, or not of this range and depth (as Chromium's, libavif).
    var otherMatrix: Int? {
        let known = [0, 1, 2, 4, 5, 6, 7, 9, 12] + (hasFullRange == false ? [] : bits > 8 ? [8, 16, 17] : [8])
        return isGrey ? nil : matrix.flatMap { known.contains($0) ? nil : $0 }
    }
}

extension [UInt8] {
    /// Where a word begins, if there are sixteen bytes from there on.
    fileprivate func places(of word: String) -> [Int] {
        withUnsafeBytes { bytes in
            var (places, offset): ([Int], Int) = ([], 0)
            while let place = bytes.first(of: word, from: offset), place + 16 <= bytes.count {
                places.append(place)
                offset = place + 4
            }
            return places
        }
    }
}
