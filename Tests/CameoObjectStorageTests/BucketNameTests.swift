import CameoStore
import Testing

@testable import CameoObjectStorage

struct BucketNameTests {
    @Test(arguments: [
        (
            "s3://pictures",
            "s3://pictures?endpoint=https://s3.us-east-1.amazonaws.com&region=us-east-1&addressing=virtual"
        ),
        (
            "s3://pictures/a/b_c?region=eu-west-1",
            "s3://pictures/a/b_c?endpoint=https://s3.eu-west-1.amazonaws.com&region=eu-west-1&addressing=virtual"
        ),
        (
            "s3://pic.tures/?region=cn-north-1&credentials=instance",
            "s3://pic.tures?endpoint=https://s3.cn-north-1.amazonaws.com.cn&region=cn-north-1&addressing=path&credentials=instance"
        ),
        (
            "s3://pictures/x?endpoint=HTTPS%3A%2F%2FStorage.example%3A443/&addressing=virtual",
            "s3://pictures/x?endpoint=https://storage.example&region=us-east-1&addressing=virtual"
        ),
        (
            "s3://pictures?endpoint=http://[::1]:9000&region=garage",
            "s3://pictures?endpoint=http://[::1]:9000&region=garage&addressing=path"
        ),
    ])
    func aNameIsCompletedAndReadsTheSameAgain(text: String, complete: String) throws {
        let name = try BucketName(text, environment: [:])
        #expect(name.text == complete)
        #expect(try BucketName(complete, environment: ["AWS_REGION": "eu-north-1"]) == name)
    }

    @Test func theEnvironmentKnowsTheRegion() throws {
        let both = ["AWS_REGION": "eu-north-1", "AWS_DEFAULT_REGION": "us-west-2"]
        #expect(try BucketName("s3://pictures", environment: both).region == "eu-north-1")
        #expect(
            try BucketName("s3://pictures", environment: ["AWS_REGION": "", "AWS_DEFAULT_REGION": "us-west-2"]).region
                == "us-west-2"
        )
        #expect(try BucketName("s3://pictures?region=sa-east-1", environment: both).region == "sa-east-1")
    }

    @Test(arguments: [
        "s3://", "s3:bucket", "s3://ab", "s3://Bucket", "s3://a..b", "s3://-a b-", "s3://pictures//x",
        "s3://pictures/../x",
        "s3://pictures/ä", "s3://pictures/a b", "s3://pictures/%41", "s3://pictures#x", "s3://pictures?region",
        "s3://pictures?region=", "s3://pictures?region=a&region=b", "s3://pictures?colour=red",
        "s3://pictures?addressing=dns",
        "s3://pictures?credentials=none", "s3://pictures?endpoint=storage.example", "s3://pictures?endpoint=ftp://x",
        "s3://pictures?endpoint=https://x/path", "s3://pictures?endpoint=https://x?y",
        "s3://pictures?endpoint=https://",
        "s3://pictures?endpoint=https://x:y", "s3://pictures?endpoint=%zz",
    ])
    func otherNamesAreRefused(text: String) {
        #expect(throws: StoreError.self) { try BucketName(text, environment: [:]) }
    }

    @Test(arguments: [
        "s3://AKIA:hidden/hidden@pictures/x", "s3://hidden@pictures?region=x",
        "s3://pictures?endpoint=https://key:hidden@host",
        "s3://pictures?secret=hidden", "s3://pictures?hidden@x", "s3://pictures?access=x&secret=hidden&hidden=",
    ])
    func aSecretInANameIsRefusedAndNotRepeated(text: String) throws {
        let error = try #require(throws: StoreError.self) { try BucketName(text, environment: [:]) }
        #expect(!error.description.contains("hidden/") && !error.description.contains("=hidden"))
        #expect(!error.description.contains(":hidden") && !error.description.contains("hidden@"))
    }
}
