// The folder of libpq's headers differs between systems; pkg-config names it.
#pragma once
#include <libpq-fe.h>
#include <poll.h>
#include <string.h>

/// The SQLSTATE with which a server refuses a connection; empty if it says none. libpq tells it only as the last word of its
/// message, if it is asked for before the attempt: `connection` comes from PQconnectStartParams, and owns the result. Takes two
/// seconds at the most.
static inline const char *cameo_pq_refusal(PGconn *connection) {
    PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE);
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    for (int rounds = 0; rounds < 20 && (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING);) {
        struct pollfd wanted = {PQsocket(connection), status == PGRES_POLLING_READING ? POLLIN : POLLOUT, 0};
        if (poll(&wanted, 1, 100) != 0) status = PQconnectPoll(connection);
        else rounds++;
    }
    // It accepts connections by now.
    if (status == PGRES_POLLING_OK) return "57P03";
    const char *word = status == PGRES_POLLING_FAILED ? strrchr(PQerrorMessage(connection), ' ') : NULL;
    return word && strspn(word + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 ? word + 1 : "";
}
