#include "registry/page_cache.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "../../fakes/http_server.hpp"
#include "registry/wheel_index.hpp"

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
