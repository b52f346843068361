boarddir = $(pkgdatadir)/boards
dist_board_DATA = \
	%D%/agx_orin.board %D%/agx_thor.board %D%/agx_xavier.board %D%/demo.board %D%/generic.board \
	%D%/igx_orin.board %D%/nano.board %D%/orin_nano.board %D%/orin_nx.board %D%/tegra186.board \
	%D%/tegra194.board %D%/tegra210.board %D%/tegra234.board %D%/tegra264.board %D%/tx1.board \
	%D%/tx2.board %D%/tx2_nx.board %D%/xavier_nx.board \
	%D%/bpmp-emc.inc %D%/cooling.inc %D%/linux.inc %D%/nvgpu.inc %D%/p3701.inc %D%/p3767.inc \
	%D%/t186.inc %D%/t186-zones.inc %D%/t18x-t19x.inc %D%/t194.inc %D%/t19x-zones.inc \
	%D%/t210.inc %D%/t210-zones.inc %D%/t234.inc %D%/t234-dla.inc %D%/t234-zones.inc %D%/t264.inc %D%/t264-zones.inc \
	%D%/whatever.inc %D%/jetpack.txt %D%/modules.txt
