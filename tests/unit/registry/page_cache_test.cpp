#include "registry/page_cache.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "fakes/http_server.hpp"
#include "registry/wheel_index.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

std::string body_of(const Result<HttpResponse>& response) {
    return response.ok() ? std::to_string(response->status) + " " + response->body
                         : response.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("a page that did not change is not transferred again") {
    fakes::HttpServer server;
    server.put("page.html", std::string(5000, 'x'));
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const PageCache cache(server.root() / "cache");
    HttpRequest request;
    request.url = server.url("tagged/page.html");

    CHECK(body_of(cache.get(connection, request)) == "200 " + std::string(5000, 'x'));
    const auto first = (*http)->transferred();
    const auto again = cache.get(connection, request);
    CHECK(body_of(again) == "200 " + std::string(5000, 'x'));
    CHECK(again->header("content-type") == "text/html; charset=utf-8");
    CHECK((*http)->transferred() - first < 1000);

    server.put("page.html", "new");
    CHECK(body_of(cache.get(connection, request)) == "200 new");
    CHECK(body_of(cache.get(connection, request)) == "200 new");
}

TEST_CASE("what is kept is believed only whole, and for the same request") {
    fakes::HttpServer server;
    server.put("page.html", "old");
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const PageCache cache(server.root() / "cache");
    HttpRequest request;
    request.url = server.url("tagged/page.html");
    CHECK(body_of(cache.get(connection, request)) == "200 old");
    for (const auto& entry : fs::directory_iterator(server.root() / "cache")) {
        if (entry.path().extension() == ".body") std::ofstream(entry.path()) << "forged";
    }
    CHECK(body_of(cache.get(connection, request)) == "200 old");
    for (const auto& entry : fs::directory_iterator(server.root() / "cache")) {
        if (entry.path().extension() == ".json") std::ofstream(entry.path()) << "{";
    }
    CHECK(body_of(cache.get(connection, request)) == "200 old");
    request.accept = "application/json";
    CHECK(body_of(cache.get(connection, request)) == "200 old");
}

TEST_CASE("pages without an ETag and errors are not kept") {
    fakes::HttpServer server;
    server.put("page.html", "text");
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const PageCache cache(server.root() / "cache");
    HttpRequest request;
    request.url = server.url("plain/page.html");
    CHECK(body_of(cache.get(connection, request)) == "200 text");
    request.url = server.url("tagged/none.html");
    CHECK(body_of(cache.get(connection, request)) == "404 ");
    CHECK_FALSE(fs::exists(server.root() / "cache"));
}

TEST_CASE("user and password of an address are asked with, and not written") {
    fakes::HttpServer server;
    server.put("page.html", "text");
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const auto folder = server.root() / "cache";
    const PageCache cache(folder);
    HttpRequest request;
    request.url = "http://reader:geheim%2B1@" + server.host() + "/tagged/page.html?x=1#part";
    CHECK(body_of(cache.get(connection, request)) == "200 text");
    // Who gives other credentials asks for the same page.
    request.url = "http://other:word@" + server.host() + "/tagged/page.html?x=1";
    CHECK(body_of(cache.get(connection, request)) == "200 text");
    CHECK(server.requests().front().ends_with("Basic cmVhZGVyOmdlaGVpbSsx"));
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        ++files;
        const auto bytes = test::bytes_of(entry.path());
        for (const std::string_view secret : {"reader", "geheim", "other", "word"})
            CHECK(bytes.find(secret) == std::string::npos);
        if (entry.path().extension() == ".json")
            CHECK(bytes.find("\"" + server.url("tagged/page.html?x=1") + "\"") != std::string::npos);
    }
    CHECK(files == 2);
}

TEST_CASE("what is no address is not kept") {
    fakes::HttpServer server;
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const PageCache cache(server.root() / "cache");
    HttpRequest request;
    request.url = "ftp://user:word@127.0.0.1/page.html";
    CHECK(body_of(cache.get(connection, request)) == "not an http or https URL: (it holds a user name)");
    CHECK_FALSE(fs::exists(server.root() / "cache"));
}
