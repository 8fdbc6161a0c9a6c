// What builds need besides an engine: room on disks, and registries and an index that answer.
#include <atomic>
#include <ctime>

#include "base/image_reference.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "registry/wheel_index.hpp"
#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

constexpr std::uint64_t kTorchImage = 12'000'000'000;  // as run/job/disk.cpp reckons, with its reserve
constexpr std::chrono::seconds kMostSkew{120};
constexpr std::string_view kSkew = "https://github.com/redis/docker-library-redis/issues/110";

struct Site {
    std::string name;
    std::string url;      ///< empty: there is none
    std::string why_not;  ///< ... because
};

Site registry_site(const std::string& host, const Mirrors& mirrors) {
    const auto place = place_of({host, "library/any", {}, {}}, mirrors);
    if (!place.ok()) return {host, {}, place.failure().diagnostics.front().message};
    const auto origin = place->origin();
    return {place->reference.host == host ? host : fmt::format("{} (at {})", host, place->reference.host),
            origin + "/v2/",
            {}};
}

Site index_site(const Context& context) {
    auto index = default_index(context.machine().environment, context.machine().cancellation);
    const std::string name = "the index that pip asks";
    if (!index.ok()) return {name, {}, index.failure().diagnostics.front().message};
    return {name, *index + (index->ends_with('/') ? "" : "/"), {}};
}

// How much later this machine's clock is than that of the answer ("Sat, 28 Nov 2026 07:12:39 GMT").
std::optional<std::chrono::seconds> skew_of(const HttpResponse& response,
                                            std::chrono::system_clock::time_point now) {
    std::tm parts{};
    const auto date = response.header("date");
    if (::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) return std::nullopt;
    const auto theirs = std::chrono::system_clock::from_time_t(::timegm(&parts));
    return std::chrono::duration_cast<std::chrono::seconds>(now - theirs);
}

struct Reached {
    DoctorLine line;
    std::optional<std::chrono::seconds> skew;
};

Reached reach(Http& http, const Site& site, const Subject& subject) {
    if (site.url.empty())
        return {{"network",
                 Health::skipped,
                 fmt::format("{}: {}", site.name, text::printable(site.why_not)),
                 {},
                 {}},
                {}};
    HttpConnection connection(http);
    HttpRequest request;
    request.url = site.url;
    request.method = HttpMethod::head;
    request.authorization = "";
    const auto response = connection.get(request);
    if (!response.ok()) {
        const auto& why = response.failure().diagnostics.front();
        return {{"network",
                 Health::warn,
                 fmt::format("{} is not reached: {}", site.name, text::printable(why.message)),
                 why.fix.empty() ? "set HTTPS_PROXY, or name a mirror: cudamatrix doctor --mirror FROM=TO"
                                 : why.fix,
                 {}},
                {}};
    }
    // A registry that wants a login says so by 401, and is there.
    return {{"network", Health::ok, fmt::format("{} answers", site.name), {}, {}},
            skew_of(*response, subject.now())};
}

}  // namespace

DoctorLine disk_line(const Context& context, const std::filesystem::path& folder, std::string_view what) {
    const auto space = context.subject->space(folder);
    const auto where = text::printable(folder.string());
    if (!space)
        return {"disk", Health::skipped, fmt::format("{} cannot be asked for its room", where), {}, {}};
    const auto found = fmt::format("{} free in {}, for {}", text::human_bytes(space->free), where, what);
    if (space->free >= kTorchImage) return {"disk", Health::ok, found, {}, {}};
    return {"disk",
            Health::warn,
            fmt::format("{}: one image with torch needs about {}", found, text::human_bytes(kTorchImage)),
            "cudamatrix clean --images, docker builder prune, or another disk",
            {}};
}

Lines disk_lines(const Context& context) {
    return {disk_line(context, context.subject->folder, "the output of this folder")};
}

Lines network_lines(const Context& context) {
    const auto& subject = *context.subject;
    if (!subject.http) return {{"network", Health::skipped, "not asked (--offline)", {}, {}}};
    auto http = Http::open(*subject.http);
    if (!http.ok())
        return {{"network",
                 Health::skipped,
                 text::printable(http.failure().diagnostics.front().message),
                 {},
                 {}}};
    std::vector<Reached> reached(subject.registries.size() + 1);
    std::atomic<std::size_t> next{0};
    on_threads(reached.size(), [&] {
        for (auto i = next++; i < reached.size(); i = next++) {
            const auto site = i < subject.registries.size()
                                  ? registry_site(subject.registries[i], subject.http->mirrors)
                                  : index_site(context);
            reached[i] = reach(**http, site, subject);
        }
    });
    Lines lines;
    std::optional<std::chrono::seconds> skew;
    for (auto& each : reached) {
        lines.push_back(std::move(each.line));
        if (!skew) skew = each.skew;
    }
    if (!skew) {
        lines.push_back({"clock", Health::skipped, "nobody who answers tells the time", {}, {}});
    } else if (*skew > kMostSkew || *skew < -kMostSkew) {
        lines.push_back(
            {"clock", Health::fail,
             fmt::format("this machine's clock is {} s {}: certificates and apt's lists are judged "
                         "by it",
                         std::abs(skew->count()), skew->count() > 0 ? "ahead" : "behind"),
             "sudo timedatectl set-ntp true", std::string(kSkew)});
    } else {
        lines.push_back({"clock", Health::ok, "agrees with those of servers", {}, {}});
    }
    return lines;
}

}  // namespace cudamatrix::doctor
