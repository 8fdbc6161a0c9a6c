// services: how containers of the images are started.
#include <algorithm>
#include <charconv>

#include "matrix/deployment/syntax.hpp"
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

using namespace service_syntax;
using yaml::Node;

constexpr std::string_view kGpuForm = "a number of GPUs, all, or a list of devices such as [\"0\", \"1\"]";
constexpr std::string_view kLimitForm = "a number, or -1 for no limit,";

std::vector<std::string> texts(const std::vector<Word>& words) {
    std::vector<std::string> out;
    for (const auto& word : words)
        out.push_back(word.text);
    return out;
}

std::vector<std::string> read_argv(const Entry& entry, const yaml::Member& member) {
    auto words = texts(entry.words(member, {"a list of words such as [python, train.py]",
                                            "a word without control characters", is_argument, true}));
    if (!words.empty() && words.front().empty())
        entry.reader().error(
            member.second.where,
            fmt::format("{}: the first word is empty, expected a program", member.first.text));
    return words;
}

void read_gpu(const Entry& entry, const yaml::Member& member, Service::Gpu& gpu) {
    if (member.second.kind == Node::Kind::sequence) {
        gpu.ids = texts(entry.words(
            member,
            {kGpuForm, "a device as nvidia-smi -L lists it, such as \"0\" or \"GPU-...\"", is_device}));
        return;
    }
    const auto text = entry.scalar(member, kGpuForm, is_gpu_count);
    gpu.all = text == "all";
    if (!gpu.all) std::from_chars(text.data(), text.data() + text.size(), gpu.count);
}

// A number for both limits, or {soft: N, hard: N}.
void read_ulimit(const Entry& entry, const yaml::Member& member, Service& service) {
    const auto& [name, node] = member;
    static const std::vector<std::string> known{"memlock", "nofile", "nproc", "stack"};
    if (std::find(known.begin(), known.end(), name.text) == known.end()) {
        entry.reader().unknown_key(name, "ulimits", known);
        return;
    }
    Service::Ulimit limit{name.text, {}, {}};
    if (node.kind == Node::Kind::map) {
        const Entry both(entry.reader(), name, node);
        both.refuse_keys_beside({"soft", "hard"});
        limit.soft = both.word("soft", "the limit that a program starts with", kLimitForm, is_limit).text;
        limit.hard = both.word("hard", "what it may raise that to", kLimitForm, is_limit).text;
        if (!limit.soft.empty() && !limit.hard.empty() && !in_order(limit.soft, limit.hard))
            entry.reader().error(
                name.where, fmt::format("{}: soft {} is above hard {}", name.text, limit.soft, limit.hard),
                "the hard limit is the upper one");
    } else {
        limit.soft = limit.hard =
            entry.scalar(member, fmt::format("{} or {{soft: N, hard: N}}", kLimitForm), is_limit);
    }
    service.ulimits.push_back(std::move(limit));
}

void read_volumes(const Entry& entry, const yaml::Member& member, Service& service) {
    std::map<std::string, Location> targets;
    for (const auto& word : entry.words(member, {"a list such as [\"cache:/cache\", \"./data:/data:ro\"]",
                                                 "a volume such as cache:/cache, or a folder next to the "
                                                 "matrix file such as ./data:/data (:ro for read-only), "
                                                 "mounted outside system folders",
                                                 is_volume})) {
        auto volume = volume_of(word.text);
        entry.reader().first_time(targets, volume.target, word.where,
                                  fmt::format("volumes: {} is mounted twice", volume.target),
                                  "delete one of the two");
        service.volumes.push_back(std::move(volume));
    }
}

// What a container is given: devices, memory, limits, folders, ports.
void read_resources(const Entry& entry, Service& service) {
    if (const auto* gpu = entry.find("gpu")) read_gpu(entry, *gpu, service.gpu);
    entry.optional("capabilities", service.gpu.capabilities,
                   {"a list such as [compute, utility]", "a capability such as compute", is_capability_word});
    if (const auto* capabilities = entry.find("capabilities");
        capabilities != nullptr && !service.gpu.asked())
        entry.reader().error(capabilities->first.where,
                             "capabilities: the service asks for no GPU that could have them",
                             "write gpu: 1, or delete the key");
    entry.optional("shm_size", service.shm_size, "a size such as 8g or 512m", is_size);
    if (const auto* limits = entry.find("ulimits")) {
        if (entry.reader().expect(limits->first, limits->second, Node::Kind::map,
                                  "a map such as {memlock: -1, nofile: 65536}")) {
            for (const auto& limit : limits->second.members)
                read_ulimit(entry, limit, service);
        }
    }
    if (const auto* volumes = entry.find("volumes")) read_volumes(entry, *volumes, service);
    entry.optional("ports", service.ports,
                   {"a list of ports such as [\"8080:80\"]",
                    "a port such as 8080:80, 80 or 127.0.0.1:8080:80/udp", is_port});
}

const Service* named(const Deployment& deployment, std::string_view name) {
    const auto found = std::find_if(deployment.services.begin(), deployment.services.end(),
                                    [&](const Service& service) { return service.name == name; });
    return found == deployment.services.end() ? nullptr : &*found;
}

std::string guess(std::string_view word, const std::vector<std::string>& names) {
    return names.empty()
               ? std::string()
               : text::did_you_mean_or(word, names, fmt::format("use one of: {}", text::join(names, ", ")));
}

// Every image that a service names is there; without a name there is only one to choose.
void check_images(Reader& reader) {
    std::vector<std::string> names;
    for (const auto& image : reader.matrix.deployment.images)
        names.push_back(image.name);
    for (const auto& service : reader.matrix.deployment.services) {
        const auto& [image, where] = service.image;
        if (image.empty()) {
            if (where.line == 0 && names.size() > 1)
                reader.error(service.where,
                             fmt::format("services: {} has no image: expected one of {}", service.name,
                                         text::join(names, ", ")),
                             "write image: NAME");
        } else if (names.empty()) {
            reader.error(where, fmt::format("image {}: the file has no images", in_quotes(image)),
                         "delete the key: the service then runs every image of the matrix");
        } else if (std::find(names.begin(), names.end(), image) == names.end()) {
            reader.error(where, fmt::format("image {}: images has no such entry", in_quotes(image)),
                         guess(image, names));
        }
    }
}

// A service that waits for itself, over others, never starts.
bool waits_for(const Deployment& deployment, const Service& from, std::string_view name,
               std::vector<std::string_view>& seen) {
    if (std::find(seen.begin(), seen.end(), from.name) != seen.end()) return false;
    seen.emplace_back(from.name);
    return std::any_of(from.depends_on.begin(), from.depends_on.end(), [&](const Word& word) {
        if (word.text == name) return true;
        const auto* next = named(deployment, word.text);
        return next != nullptr && waits_for(deployment, *next, name, seen);
    });
}

void check_dependencies(Reader& reader) {
    const auto& deployment = reader.matrix.deployment;
    std::vector<std::string> names;
    for (const auto& service : deployment.services)
        names.push_back(service.name);
    for (const auto& service : deployment.services) {
        for (const auto& [text, where] : service.depends_on) {
            const auto* other = named(deployment, text);
            std::vector<std::string_view> seen;
            if (other == nullptr) {
                reader.error(where, fmt::format("depends_on: this file has no service {}", in_quotes(text)),
                             guess(text, names));
            } else if (other == &service) {
                reader.error(where, fmt::format("depends_on: {} waits for itself", service.name),
                             "delete it");
            } else if (waits_for(deployment, *other, service.name, seen)) {
                reader.error(
                    where,
                    fmt::format("depends_on: {} waits for {}, which waits for it: neither would start",
                                service.name, text),
                    "delete one of the two");
            }
        }
    }
}

// Two services that publish one port of the host cannot run beside each other.
void check_ports(Reader& reader) {
    std::map<std::string, Location> taken;
    for (const auto& service : reader.matrix.deployment.services) {
        for (const auto& [text, where] : service.ports) {
            if (const auto host = host_port(text); !host.empty())
                reader.first_time(taken, host, where,
                                  fmt::format("ports: port {} of the host is published twice", host),
                                  "publish another one");
        }
    }
}

}  // namespace

void read_healthcheck(const Entry& entry, Healthcheck& check) {
    const auto* member = entry.find("healthcheck");
    if (member == nullptr) return;
    if (member->second.kind != Node::Kind::map) {
        check.test = read_argv(entry, *member);
        return;
    }
    const Entry inner(entry.reader(), member->first, member->second);
    inner.refuse_keys_beside({"test", "interval", "timeout", "start_period", "retries"});
    if (const auto* test = inner.required("test", "the command that says whether the service is healthy"))
        check.test = read_argv(inner, *test);
    for (const auto& [key, value] :
         {std::pair{"interval", &check.interval}, std::pair{"timeout", &check.timeout},
          std::pair{"start_period", &check.start_period}})
        inner.optional(key, *value, "a time such as 30s", is_duration);
    inner.optional("retries", check.retries, "a number from 1 to 100", is_retries);
}

void read_services(Reader& reader, const Node& key, const Node& node) {
    auto& services = reader.matrix.deployment.services;
    for (const auto& item : node.items) {
        const Entry entry(reader, key, item);
        if (!entry.is_map(kServiceExample)) continue;
        entry.refuse_keys_beside({"name", "image", "command", "gpu", "capabilities", "shm_size", "ulimits",
                                  "volumes", "ports", "environment", "healthcheck", "depends_on", "restart"});
        Service service;
        const auto name = entry.word("name", "the compose service is named by it",
                                     fmt::format("{} such as trainer", kEntryNameForm), is_entry_name);
        service.name = name.text;
        service.where = name.where;
        entry.optional("image", service.image.text, "the name of an entry of images", is_entry_name);
        if (const auto* image = entry.find("image")) service.image.where = image->second.where;
        if (const auto* command = entry.find("command")) service.command = read_argv(entry, *command);
        read_resources(entry, service);
        entry.variables("environment", service.environment);
        read_healthcheck(entry, service.healthcheck);
        entry.optional("depends_on", service.depends_on,
                       {"a list of services such as [worker]", "the name of a service", is_entry_name});
        entry.optional("restart", service.restart, "no, always, on-failure or unless-stopped", is_restart);
        entry.refuse_name_of(services, service, &Service::name, "an earlier entry of services", "service");
        services.push_back(std::move(service));
    }
    check_images(reader);
    check_dependencies(reader);
    check_ports(reader);
}

}  // namespace cudamatrix
