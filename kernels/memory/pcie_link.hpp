#pragma once

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

/// The link to the GPU, as the kernel of the host describes it below /sys/bus/pci (Linux,
/// Documentation/ABI/testing/sysfs-bus-pci: current_link_speed and so on).
namespace cudamatrix::suite {

struct LinkRate {
    double speed = 0;  ///< GT/s of each lane; 0 = unknown
    int width = 0;     ///< lanes; 0 = unknown

    [[nodiscard]] bool known() const { return speed > 0 && width > 0; }
    [[nodiscard]] std::string text() const {
        char text[48];
        std::snprintf(text, sizeof text, "%g GT/s x%d", speed, width);
        return known() ? text : "unknown";
    }
};

struct PcieLink {
    LinkRate now;
    LinkRate device;  ///< the most that the GPU can
    LinkRate slot;    ///< ... and the port above it
};

/// "16.0 GT/s PCIe", "8 GT/s", "Unknown"; and "16".
inline LinkRate read_rate(const std::string& folder, const std::string& kind) {
    const auto number = [&](const char* what) {
        std::ifstream in(folder + "/" + kind + "_link_" + what);
        std::string line;
        std::getline(in, line);
        return std::atof(line.c_str());
    };
    LinkRate rate;
    rate.speed = number("speed");
    rate.width = static_cast<int>(number("width"));
    return rate;
}

/// `root` is a prefix of /sys. Idle GPUs slow their link down: to be read while it is busy.
inline PcieLink read_link(const std::string& root, int domain, int bus, int device) {
    char name[32];
    std::snprintf(name, sizeof name, "%04x:%02x:%02x.0", static_cast<unsigned>(domain),
                  static_cast<unsigned>(bus), static_cast<unsigned>(device));
    const std::string folder = root + "/sys/bus/pci/devices/" + name;
    PcieLink link;
    link.now = read_rate(folder, "current");
    link.device = read_rate(folder, "max");
    // The folder is a link into the tree of ports: what lies above it is the slot's port.
    char* real = ::realpath(folder.c_str(), nullptr);
    const std::string path = real != nullptr ? real : "";
    ::free(real);
    if (!path.empty()) link.slot = read_rate(path.substr(0, path.rfind('/')), "max");
    return link;
}

/// 10^9 bytes a second that a link carries one way: lanes, less the line code, which is 8 of 10 bits up to 5
/// GT/s and 128 of 130 up to 32 (PCI Express Base Specification 5.0, 4.2); 0 = unknown. Packets' heads come
/// off that.
inline double link_gb_s(const LinkRate& rate) {
    if (!rate.known()) return 0;
    const double code = rate.speed <= 5 ? 0.8 : rate.speed <= 32 ? 128.0 / 130 : 1;
    return rate.speed * rate.width * code / 8;
}

/// The most that device and slot both can.
inline LinkRate link_bound(const PcieLink& link) {
    if (!link.device.known() || !link.slot.known()) return link.device.known() ? link.device : link.slot;
    LinkRate bound;
    bound.speed = std::min(link.device.speed, link.slot.speed);
    bound.width = std::min(link.device.width, link.slot.width);
    return bound;
}

/// Does it run slower than it could? "" when not, or when nobody knows.
inline std::string link_warning(const PcieLink& link) {
    const LinkRate bound = link_bound(link);
    if (!link.now.known() || !bound.known()) return "";
    if (link.now.speed >= bound.speed && link.now.width >= bound.width) return "";
    return "the link runs at " + link.now.text() + ", device and slot can " + bound.text();
}

}  // namespace cudamatrix::suite
