#include "registry/http.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "fakes/http_server.hpp"

using namespace cudamatrix;
using fakes::HttpServer;
using namespace std::chrono_literals;

namespace {

HttpOptions quick() {
    HttpOptions options;
    options.back_off = 1ms;
    options.connect_limit = 5s;
    return options;
}

std::string letters(std::size_t size) {
    std::string out;
    for (std::size_t i = 0; i < size; ++i)
        out += static_cast<char>('a' + i % 26);
    return out;
}

/// "STATUS BODY" or the message.
std::string get(const HttpRequest& request, HttpOptions options = quick()) {
    auto http = Http::open(std::move(options));
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const auto response = connection.get(request);
    if (response.ok()) return fmt::format("{} {}", response->status, response->body);
    return response.failure().diagnostics.front().message;
}

/// Reads the last, the first and the last but one byte of the file; "tfs" or the message.
std::string read_three(const std::string& url, std::uint64_t tail = 10, HttpOptions options = quick()) {
    auto http = Http::open(std::move(options));
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    auto source = HttpSource::open(connection, url, tail);
    if (!source.ok()) return source.failure().diagnostics.front().message;
    std::string out;
    for (const auto offset : {(*source)->size() - 1, std::uint64_t{0}, (*source)->size() - 2}) {
        std::uint8_t byte = 0;
        const auto read = (*source)->read(offset, {&byte, 1});
        if (!read.ok()) return read.failure().diagnostics.front().message;
        out += static_cast<char>(byte);
    }
    return out;
}

std::size_t asked(HttpServer& server, std::string_view path) {
    const auto all = server.requests();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const std::string& line) {
        return line.starts_with(fmt::format("GET {} ", path));
    }));
}

}  // namespace

TEST_CASE("GET follows redirects, asks again when the server is busy and says what did not help") {
    HttpServer server;
    server.put("f", "content");
    CHECK(get({server.url("plain/f")}) == "200 content");
    CHECK(get({server.url("redirect/plain/f")}) == "200 content");
    CHECK(get({server.url("busy-2/f")}) == "200 content");
    CHECK(get({server.url("tear-once/f")}) == "200 content");
    CHECK(get({server.url("plain/none")}) == "404 ");
    CHECK(asked(server, "/plain/none") == 1);  // what is not there is not asked for again
    // The answer without what all start with.
    const auto failure = [&](const std::string& path) {
        return text::replace_all(get({server.url(path)}), "http://" + server.host() + "/" + path + ": ", "");
    };
    CHECK(failure("busy-9/f") == "the server answered 503 (5 attempts)");
    CHECK(asked(server, "/busy-9/f") == 5);
    CHECK(failure("wait-0/f") == "too many requests (429) (5 attempts)");
    CHECK(failure("wait-3600/f") == "too many requests (429), and it asks for a pause of 3600 s");
    CHECK(failure("loop/f") == "Maximum (10) redirects followed");
    const auto torn = failure("tear/f");
    CHECK_MESSAGE(torn.starts_with("transfer closed with"), torn);
    CHECK_MESSAGE(torn.ends_with("(5 attempts)"), torn);
    CHECK(get({server.url("plain/f"), {}, {}, 6}) ==
          fmt::format("http://{}/plain/f: the answer is larger than 6 B", server.host()));
}

TEST_CASE("Answers without an end come to one") {
    HttpServer server;
    server.put("f", "content");
    HttpOptions options = quick();
    options.attempts = 2;
    const auto says = [&](const std::string& path) {
        return text::replace_all(get({server.url(path)}, options),
                                 "http://" + server.host() + "/" + path + ": ", "");
    };
    CHECK(says("endless-200/f") == "the answer is larger than 67 MB");
    CHECK(says("endless-302/f") == "the answer is larger than 1 MB");
    CHECK(says("endless-404/f") == "404 ");
    CHECK(says("endless-503/f") == "the server answered 503 (2 attempts)");
    CHECK(says("bomb/f") == "the answer is larger than 67 MB");
    CHECK(says("headers/f") == "its headers are larger than 262 kB");
    HttpRequest told{server.url("endless-401/f")};
    told.error_body = true;
    CHECK(get(told).size() == 4 + (64u << 10));
}

TEST_CASE("What is no http or https URL is refused, and so is a server that is not there") {
    for (const auto* bad :
         {"ftp://host/x", "file:///etc/passwd", "x", "http://", "http://ho st/", "https:///x"}) {
        CHECK(get({bad}) == "not an http or https URL: " + std::string(bad));
    }
    auto options = quick();
    options.attempts = 2;
    const auto message = get({"http://127.0.0.1:1/x"}, options);
    CHECK_MESSAGE(message.starts_with("http://127.0.0.1:1/x: Failed to connect to 127.0.0.1 port 1"),
                  message);
    CHECK_MESSAGE(message.ends_with("(2 attempts)"), message);
}

TEST_CASE("Cancelling ends the waiting for a busy server") {
    HttpServer server;
    Cancellation cancellation;
    cancellation.request();
    auto options = quick();
    options.cancellation = &cancellation;
    CHECK(get({server.url("wait-30/f")}, options) ==
          fmt::format("http://{}/wait-30/f: interrupted", server.host()));
}

TEST_CASE("Credentials reach their host only and never a message") {
    HttpServer server;
    HttpServer other;
    server.put("f", "content");
    other.put("f", "other");
    const auto with_user = [&](std::string_view path) {
        return "http://user:secret@" + server.host() + "/" + std::string(path);
    };
    CHECK(get({server.url("auth/f")}) == "401 ");
    CHECK(get({with_user("auth/f")}) == "200 content");
    CHECK(get({with_user("redirect/auth/f")}) == "200 content");
    CHECK(get({with_user("elsewhere/" + other.port() + "/plain/f")}) == "200 other");
    CHECK(other.requests() == std::vector<std::string>{"GET /plain/f - -"});
    CHECK(get({with_user("busy-9/f?token=hidden")}) ==
          fmt::format("http://{}/busy-9/f: the server answered 503 (5 attempts)", server.host()));

    auto options = quick();
    server.put("netrc", "machine 127.0.0.1 login user password secret\n");
    options.environment["NETRC"] = (server.root() / "netrc").string();
    CHECK(get({server.url("auth/f")}, options) == "200 content");
    server.put(".netrc", "machine 127.0.0.1 login user password secret\n");
    options.environment = {{"HOME", server.root().string()}};
    CHECK(get({server.url("auth/f")}, options) == "200 content");
}

TEST_CASE("Credentials of the index serve later URLs of the same host, as pip does it") {
    HttpServer server;
    server.put("f", "content");
    auto http = Http::open(quick());
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    CHECK(connection.get({"http://user:secret@" + server.host() + "/plain/f"})->status == 200);
    CHECK(connection.get({server.url("auth/f")})->status == 200);
}

TEST_CASE("Mirrors replace the longest prefix, and proxies come from the environment given") {
    HttpServer server;
    server.put("f", "content");
    auto options = quick();
    options.mirrors = {{"https://index.example.org", "http://127.0.0.1:1"},
                       {"https://index.example.org/simple/", server.url("plain")}};
    CHECK(get({"https://index.example.org/simple/f"}, options) == "200 content");
    // A proxy gets the whole URL as the path: the fake server does not know it, but it was asked.
    options = quick();
    options.environment["http_proxy"] = "http://user:secret@" + server.host();
    static_cast<void>(get({"http://index.example.org/plain/f"}, options));
    CHECK(asked(server, "http://index.example.org/plain/f") == 1);
    options.environment["no_proxy"] = "127.0.0.1";
    CHECK(get({server.url("plain/f")}, options) == "200 content");
    options.environment["http_proxy"] = "http://user:secret@127.0.0.1:1";
    options.environment.erase("no_proxy");
    const auto message = get({server.url("plain/f")}, options);
    CHECK_MESSAGE(message.find("secret") == std::string::npos, message);
    CHECK_MESSAGE(message.find("Failed to connect to 127.0.0.1 port 1") != std::string::npos, message);
}

TEST_CASE("A CA bundle that is not there is an error that names the option") {
    auto options = quick();
    options.ca_bundle = "/nonexistent.pem";
    auto http = Http::open(options);
    REQUIRE(http.ok());
    HttpServer server;  // speaks no TLS: the bundle is read before that shows
    HttpConnection connection(**http);
    const auto response = connection.get({"https://" + server.host() + "/x"});
    REQUIRE_FALSE(response.ok());
    CHECK(response.failure().diagnostics.front().fix == "name the site's certificates by --ca-bundle FILE");
}

TEST_CASE("A source reads parts of a file, asks for nothing twice and counts what came") {
    HttpServer server;
    const auto content = letters(1'000'000);
    server.put("f", content);
    auto http = Http::open(quick());
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    auto source = HttpSource::open(connection, server.url("redirect/plain/f"), 1000);
    REQUIRE(source.ok());
    CHECK((*source)->size() == 1'000'000);
    std::string whole(content.size(), '\0');
    for (std::size_t at = 0; at < whole.size(); at += 10'000) {
        const auto piece = std::span(reinterpret_cast<std::uint8_t*>(whole.data()) + at, 10'000);
        REQUIRE((*source)->read(at, piece).ok());
    }
    CHECK(whole == content);
    CHECK((*source)->transferred() == 1'000'000);
    CHECK((*http)->transferred() > 1'000'000);
    CHECK((*http)->transferred() < 1'010'000);
    CHECK((*http)->requests() < 9);                  // growing pieces
    CHECK(asked(server, "/redirect/plain/f") == 1);  // the redirect is followed once
    std::uint8_t byte = 0;
    CHECK_FALSE((*source)->read(1'000'000, {&byte, 1}).ok());
    CHECK((*source)->read(1'000'000, {&byte, 0}).ok());
    CHECK(read_three(server.url("plain/f")) == "nam");
    CHECK(read_three(server.url("plain/f"), 2'000'000) == "nam");  // a tail larger than the file
    CHECK(read_three(server.url("needs-fresh/f")) == "nam");       // signed links run out
    CHECK(read_three(server.url("tear-once/f")) == "nam");
}

TEST_CASE("A server that lies about ranges, or changes the file, is told so") {
    HttpServer server;
    server.put("f", letters(100'000));
    const auto ends = [&](const std::string& path, std::string_view end) {
        const auto message = read_three(server.url(path));
        CHECK_MESSAGE(message == fmt::format("http://{}/{}: {}", server.host(), path, end), message);
    };
    ends("ignore-range/f",
         "the server does not answer range requests, and the whole file is not downloaded to read parts of "
         "it");
    ends("no-content-range/f", "the server lies about ranges: its answer does not say which bytes it holds");
    ends("odd-range/f", "the server lies about ranges: 'bytes 99999-99989/100000' is not a range");
    ends("other-range/f",
         "the server lies about ranges: asked for bytes 99990 to 99999, it gave 99991 to 99999");
    ends("short/f", "the server lies about ranges: its answer has 9 bytes instead of 10");
    ends("long/f", "the answer is larger than 10 B");
    ends("swap/f", "the file changed while it was read");
    ends("grow/f", "the file changed while it was read");
    ends("plain/none", "there is no such page (404)");
    ends("status-403/f", "it is forbidden (403)");
    ends("status-401/f", "it needs credentials (401): put them into ~/.netrc or into the URL of the index");
    ends("status-500/f", "the server answered 500 (5 attempts)");
    const auto torn = read_three(server.url("tear/f"));
    CHECK_MESSAGE(
        torn.starts_with(fmt::format("http://{}/tear/f: transfer closed with 5 bytes", server.host())), torn);
    server.put("empty", "");
    ends("plain/empty", "the server answered 416");
}
