internal import CameoStore

extension PostgreSQLStore: Store {}
