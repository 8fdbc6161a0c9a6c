#include "registry/wheel_index.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "fakes/http_server.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
namespace fs = std::filesystem;

namespace {

std::string body_of(const Result<HttpResponse>& response) {
    return response.ok() ? std::to_string(response->status) + " " + response->body
                         : response.failure().diagnostics.front().message;
}

/// A server, and a cache in its folder.
struct Site {
    std::string get(const std::string& url) {
        request.url = url;
        return body_of(cache.get(connection, request));
    }
    fakes::HttpServer server;
    std::unique_ptr<Http> http = std::move(Http::open({})).value();
    HttpConnection connection{*http};
    fs::path folder = server.root() / "cache";
    PageCache cache{folder};
    HttpRequest request;
};

}  // namespace

TEST_CASE("a page that did not change is not transferred again") {
    Site site;
    site.server.put("page.html", std::string(5000, 'x'));
    site.request.url = site.server.url("tagged/page.html");

    CHECK(body_of(site.cache.get(site.connection, site.request)) == "200 " + std::string(5000, 'x'));
    const auto first = site.http->transferred();
    const auto again = site.cache.get(site.connection, site.request);
    CHECK(body_of(again) == "200 " + std::string(5000, 'x'));
    CHECK(again->header("content-type") == "text/html; charset=utf-8");
    CHECK(site.http->transferred() - first < 1000);

    site.server.put("page.html", "new");
    CHECK(body_of(site.cache.get(site.connection, site.request)) == "200 new");
    CHECK(body_of(site.cache.get(site.connection, site.request)) == "200 new");
}

TEST_CASE("what is kept is believed only whole, and for the same request") {
    Site site;
    site.server.put("page.html", "old");
    CHECK(site.get(site.server.url("tagged/page.html")) == "200 old");
    for (const auto& entry : fs::directory_iterator(site.folder)) {
        if (entry.path().extension() == ".body") std::ofstream(entry.path()) << "forged";
    }
    CHECK(body_of(site.cache.get(site.connection, site.request)) == "200 old");
    for (const auto& entry : fs::directory_iterator(site.folder)) {
        if (entry.path().extension() == ".json") std::ofstream(entry.path()) << "{";
    }
    CHECK(body_of(site.cache.get(site.connection, site.request)) == "200 old");
    site.request.accept = "application/json";
    CHECK(body_of(site.cache.get(site.connection, site.request)) == "200 old");
}

TEST_CASE("pages without an ETag and errors are not kept") {
    Site site;
    site.server.put("page.html", "text");
    CHECK(site.get(site.server.url("plain/page.html")) == "200 text");
    CHECK(site.get(site.server.url("tagged/none.html")) == "404 ");
    CHECK_FALSE(fs::exists(site.folder));
}

TEST_CASE("user and password of an address are asked with, and not written") {
    Site site;
    site.server.put("page.html", "text");
    CHECK(site.get("http://reader:geheim%2B1@" + site.server.host() + "/tagged/page.html?x=1#part") ==
          "200 text");
    // Who gives other credentials asks for the same page.
    CHECK(site.get("http://other:word@" + site.server.host() + "/tagged/page.html?x=1") == "200 text");
    CHECK(site.server.requests().front().ends_with("Basic cmVhZGVyOmdlaGVpbSsx"));
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(site.folder)) {
        ++files;
        const auto bytes = test::bytes_of(entry.path());
        for (const std::string_view secret : {"reader", "geheim", "other", "word"})
            CHECK(bytes.find(secret) == std::string::npos);
        if (entry.path().extension() == ".json")
            CHECK(bytes.find("\"" + site.server.url("tagged/page.html?x=1") + "\"") != std::string::npos);
    }
    CHECK(files == 2);
}

TEST_CASE("what is no address is not kept") {
    Site site;
    CHECK(site.get("ftp://user:word@127.0.0.1/page.html") ==
          "not an http or https URL: (it holds a user name)");
    CHECK_FALSE(fs::exists(site.folder));
}
