/* peer: runs fastnvmetrics' engine for some seconds, without Python, to be measured in a
 * chroot of a fake board (tests/bench/cost.py --peer).
 * usage: peer FILE SECONDS */
#include <chrono>
#include <cstdlib>
#include <exception>
#include <cstdio>
#include <thread>

#include "fastnvmetrics/fastnvmetrics.hpp"

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: peer FILE SECONDS\n", stderr);
		return 2;
	}
	try {
		fastnvmetrics::Engine engine(argv[1], fastnvmetrics::detect_board(), {1000, 100, 10});

		engine.start();
		std::this_thread::sleep_for(std::chrono::seconds(atoi(argv[2])));
		printf("%llu\n", (unsigned long long)engine.sample_count());
		engine.stop();
	} catch (const std::exception &e) {
		fprintf(stderr, "peer: %s\n", e.what());
		return 1;
	}
	return 0;
}
