// BusyText: busy stories, and what an engine waits for in them, as text for faults.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "busy_story.h"

namespace ashlar::oracle::busy {

/// "2 of job 7": members by job.
std::string text_of(const std::map<std::uint32_t, int>& members);
/// The whole script.
std::string text_of(const Story& story);
/// Where each of these jobs waits.
std::string places_of(const Engine& engine, const std::map<std::uint32_t, int>& jobs);
std::string texts_of(const State& state, const std::vector<Reservation>& reservations);
/// What is free and what is reserved.
std::string told(const State& state, const Engine& engine);

}  // namespace ashlar::oracle::busy
